"""A journal that writes nothing until a test says what becomes of it."""

from forwarder.futures.entries import Entry, Recovered
from forwarder.futures.errors import JournalError
from forwarder.futures.journal import Done, NoJournal, heedless


class HeldJournal:
    """`held` are the entries that wait, in order; `written` those that became durable."""

    unwritten = 0
    broken: JournalError | None = None

    def __init__(self) -> None:
        self.holds = False
        self.refuses: JournalError | None = None
        self.held: list[tuple[Entry, Done]] = []
        self.written: list[Entry] = []

    def load(self) -> Recovered:
        """An empty store."""
        return NoJournal().load()

    def write(self, entry: Entry, done: Done = heedless) -> None:
        """At once, or refused at once, unless it holds."""
        self.held.append((entry, done))
        if not self.holds:
            self.release(self.refuses)

    def release(self, error: JournalError | None = None) -> None:
        """All that is held is durable, or is not."""
        held, self.held = self.held, []
        for entry, done in held:
            if error is None:
                self.written.append(entry)
            done(error)

    async def close(self) -> None:
        """Nothing is held when it is closed."""
        self.release()
