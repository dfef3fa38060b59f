"""Whether anybody is at work: handlers and forwards between their waits, and how much has happened in all.

A handler works from its request's head to its answer, and a forward from its start to its result, except where they
wait for somebody else: for bytes of a caller, for a result, for the router.
"""

from types import TracebackType


class Activity:
    """Who works now (`busy`), and a number that grows with every step (`steps`)."""

    def __init__(self) -> None:
        self.busy = 0
        self.steps = 0
        self._working, self._waiting = Change(self, 1), Change(self, -1)

    def step(self) -> None:
        """Something has happened: bytes came, a connection opened or ended, a timer has run."""
        self.steps += 1

    def working(self) -> "Change":
        """Somebody works inside of this context."""
        return self._working

    def waiting(self) -> "Change":
        """Who works waits inside of this context for somebody outside of this process, or for a timer."""
        return self._waiting


class Change:
    """A context in which so many more are at work. It holds nothing, so that all who enter it share one: each operation
    in flight is inside of several.
    """

    __slots__ = ("_activity", "_by")

    def __init__(self, activity: Activity, by: int) -> None:
        self._activity = activity
        self._by = by

    def __enter__(self) -> None:
        self._activity.busy += self._by
        self._activity.steps += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._activity.busy -= self._by
        self._activity.steps += 1
