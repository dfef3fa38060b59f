"""Stores of futures that are wrong on purpose: those that forget, that run again, and that have no bounds."""

import os
from collections.abc import Callable
from typing import Any

from forwarder.futures.entries import Accepted, Entry
from forwarder.futures.errors import FullError
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.journal import Done, heedless
from forwarder.futures.keys import content_of
from forwarder.futures.recovery import LOST
from forwarder.futures.room import Room
from forwarder.futures.sessions import SamplingSession
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures
from forwarder.futures.submits import Submits, Submitted


def replace(where: object, name: str, value: object) -> None:
    assert hasattr(where, name), f"{where!r} has no {name!r} any more; the mutant has to be built anew"
    setattr(where, name, value)


def new_future_on_resubmit() -> None:
    """The same key begins another operation."""
    _accepting_again(lambda submits, counter: True)


def resubmit_after_eviction_runs_again() -> None:
    """A key is forgotten with its result."""
    _accepting_again(lambda submits, counter: submits._shelf.get(counter) is None)


def _accepting_again(wanted: Callable[[Submits, int], bool]) -> None:
    submit = Submits.submit

    async def again(self: Submits, sampling: SamplingSession, seq_id: int, digest: bytes, cost: int) -> Submitted:
        known = sampling.keys.get(seq_id)
        if known is not None and known.content == content_of(digest) and wanted(self, known.counter):
            return await self._told(self._accept(sampling, seq_id, known.content, cost))
        return await submit(self, sampling, seq_id, digest, cost)

    replace(Submits, "submit", again)


def ids_without_identity() -> None:
    """Ids begin again with every store."""
    replace(StoreIdentity, "fresh", classmethod(lambda cls: cls(1 << 63)))


def forgets_what_it_took() -> None:
    """Only outcomes are written to its store."""
    write = SqliteJournal.write

    def written(self: SqliteJournal, entry: Entry, done: Done = heedless) -> None:
        if isinstance(entry, Accepted):
            done(None)
        else:
            write(self, entry, done)

    replace(SqliteJournal, "write", written)


def never_refuses() -> None:
    """There is always room."""
    replace(Room, "take", lambda self, size_bytes, *, futures=0: self.take_anyway(size_bytes))


def evicts_what_nobody_got() -> None:
    """What was there first makes room for what comes."""
    accept = Submits._accept

    def accepting(self: Submits, *parts: Any) -> Any:
        try:
            return accept(self, *parts)
        except FullError:
            oldest = self._shelf.undelivered.first()
            if oldest is None:
                raise
            self._shelf.expire(oldest)
            return accept(self, *parts)

    replace(Submits, "_accept", accepting)


def breaks_down_at_its_end() -> None:
    """Told to end, it is gone at once, with whatever it has in flight."""

    async def shut_down(self: Futures, says: object) -> None:
        del self, says
        os._exit(70)

    replace(Futures, "shut_down", shut_down)


def runs_again_what_was_lost() -> None:
    """What was in flight when its process ended is as if it had never been submitted."""

    def lost(submits: Submits, counter: int) -> bool:
        future = submits._shelf.get(counter)
        return future is not None and future.outcome == LOST

    _accepting_again(lost)
