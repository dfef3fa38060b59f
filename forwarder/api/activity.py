"""Whether anybody is at work: handlers and forwards between their waits, and how much has happened in all.

A handler works from its request's head to its answer, and a forward from its start to its result, except where they
wait for somebody else: for bytes of a caller, for a result, for the router.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class Activity:
    """Who works now (`busy`), and a number that grows with every step (`steps`)."""

    def __init__(self) -> None:
        self.busy = 0
        self.steps = 0

    def step(self) -> None:
        """Something has happened: bytes came, a connection opened or ended, a timer has run."""
        self.steps += 1

    @contextmanager
    def working(self) -> Iterator[None]:
        """Somebody works in here."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Who works waits in here for somebody outside of this process, or for a timer."""
        self._change(-1)
        try:
            yield
        finally:
            self._change(1)

    def _change(self, by: int) -> None:
        self.busy += by
        self.steps += 1
