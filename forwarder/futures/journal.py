"""Where a store writes down what it must not forget."""

from collections.abc import Callable
from typing import Protocol

from forwarder.futures.entries import Entry, Recovered
from forwarder.futures.errors import JournalError
from forwarder.futures.ids import StoreIdentity

Done = Callable[[JournalError | None], None]


def heedless(error: JournalError | None) -> None:
    """For an entry whose loss does no harm: what it says is found out again after a crash."""


class Journal(Protocol):
    """Entries become durable in the order in which they are written."""

    def load(self) -> Recovered:
        """Everything so far; called once, on the loop, before anything is written. Raises JournalError."""
        ...

    def write(self, entry: Entry, done: Done = heedless) -> None:
        """Write it down. `done` is called on the loop, perhaps at once: with None when it is durable, with the error
        when it will not be.
        """
        ...

    @property
    def unwritten(self) -> int:
        """Outcomes that could not be written, and are kept to be written later."""
        ...

    @property
    def broken(self) -> JournalError | None:
        """By a defect it writes nothing any more, and refuses all."""
        ...

    async def close(self) -> None:
        """All entries are done, and what they did in `done` was written as well; later entries are refused."""
        ...


class NoJournal:
    """Nothing is written down: a restarted store knows nothing, and has another identity."""

    unwritten = 0
    broken: JournalError | None = None

    def load(self) -> Recovered:
        """An empty store."""
        return Recovered(identity=StoreIdentity.fresh(), next_counter=1, sessions=[], samplings=[], rows=())

    def write(self, entry: Entry, done: Done = heedless) -> None:
        """It counts as durable."""
        done(None)

    async def close(self) -> None:
        """There is nothing to close."""
