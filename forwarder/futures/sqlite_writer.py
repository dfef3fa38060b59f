"""Entries written to SQLite: a batch in one transaction, and each alone when a batch is refused."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import assert_never

from forwarder.futures.entries import (
    Accepted,
    Delivered,
    Entry,
    Finished,
    Forgotten,
    Heartbeat,
    OutcomeGone,
    SamplingOpened,
    SessionEnded,
    SessionOpened,
)
from forwarder.futures.errors import JournalError
from forwarder.futures.outcome import Failed, Sampled
from forwarder.futures.sqlite_schema import failure_json

_LATE_AT_ONCE = 64
_SOMEBODY_ELSE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# A text that is no Unicode, a number that is too large, no memory for a copy: refused like what SQLite refuses.
_REFUSALS = (sqlite3.Error, ValueError, OverflowError, MemoryError)

Verdict = JournalError | None


class Writer:
    """Belongs to the thread of its journal. `late` are the outcomes that could not be written, by counter."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self.late: dict[int, Finished] = {}

    def write(self, entries: Sequence[Entry]) -> list[Verdict]:
        """What became of each, durable or not written at all; then another try with what is late."""
        error = self._commit(entries)
        if error is None:
            verdicts: list[Verdict] = [None] * len(entries)
        elif len(entries) == 1 or _is_somebody_else(error):
            verdicts = [self._refusal(error)] * len(entries)
        else:  # on a full disk a small entry may find room where a large one does not
            alone = [self._commit([entry]) for entry in entries]
            verdicts = [None if each is None else self._refusal(each) for each in alone]
        for entry, verdict in zip(entries, verdicts, strict=True):
            match entry:
                case Finished(counter) if verdict is not None:
                    self.late[counter] = entry
                case OutcomeGone(counter):
                    self.late.pop(counter, None)
        if error is None:
            self.write_late()
        return verdicts

    def write_late(self) -> None:
        """Try again with some of what is late, as long as that works."""
        for finished in list(self.late.values())[:_LATE_AT_ONCE]:
            if self._commit([finished]) is not None:
                return
            del self.late[finished.counter]

    def close(self) -> None:
        """Nothing more is written."""
        self._connection.close()

    def _commit(self, entries: Sequence[Entry]) -> Exception | None:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for entry in entries:
                _put(connection, entry)
            connection.execute("COMMIT")
        except _REFUSALS as error:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            return error
        return None

    def _refusal(self, error: Exception) -> JournalError:
        return JournalError(f"cannot write to the journal {self._path!r}: {error}")


def _is_somebody_else(error: Exception) -> bool:
    """Another process holds the file: the connection has waited already, and each entry would wait again."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SOMEBODY_ELSE


def _put(connection: sqlite3.Connection, entry: Entry) -> None:
    execute = connection.execute
    match entry:
        case SessionOpened(session_id, at_ms):
            execute("INSERT INTO sessions VALUES (?, ?)", (session_id, at_ms))
        case Heartbeat(session_id, at_ms):
            execute("UPDATE sessions SET heartbeat_ms = ? WHERE id = ?", (at_ms, session_id))
        case SessionEnded(session_id):
            execute("DELETE FROM samplings WHERE session = ?", (session_id,))
            execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        case SamplingOpened(number, session_id, model):
            execute("INSERT INTO samplings VALUES (?, ?, ?)", (number, session_id, model))
        case Accepted(counter, sampling, seq_id, content):
            execute("INSERT INTO futures VALUES (?, ?, ?, ?, NULL)", (counter, sampling, seq_id, content))
        case Finished(counter, at_ms, Sampled(payload)):
            execute("INSERT INTO outcomes VALUES (?, ?, ?, NULL)", (counter, at_ms, payload))
        case Finished(counter, at_ms, Failed() as failed):
            execute("INSERT INTO outcomes VALUES (?, ?, NULL, ?)", (counter, at_ms, failure_json(failed)))
        case Delivered(counter):
            execute("UPDATE futures SET fate = 'DELIVERED' WHERE counter = ?", (counter,))
        case OutcomeGone(counter, state):
            execute("DELETE FROM outcomes WHERE counter = ?", (counter,))
            execute("UPDATE futures SET fate = ? WHERE counter = ?", (state.name, counter))
        case Forgotten(first, last):
            execute("DELETE FROM outcomes WHERE counter BETWEEN ? AND ?", (first, last))
            execute("DELETE FROM futures WHERE counter BETWEEN ? AND ?", (first, last))
        case Finished():
            raise AssertionError(f"{entry.outcome!r}; expected Sampled or Failed")
        case _:
            assert_never(entry)
