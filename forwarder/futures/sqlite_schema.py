"""The tables of a journal in SQLite: made, opened, and read back whole."""

import json
import sqlite3
from collections.abc import Iterator

from forwarder.futures.entries import Accepted, Finished, Recovered, Row, SamplingOpened, SessionOpened
from forwarder.futures.errors import JournalError
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.outcome import Executed, Failed, Outcome, Sampled
from forwarder.futures.states import KEPT, State

VERSION = 1
_APPLICATION = 0x52505246  # "RPRF", in the file's header

_DAMAGE = (sqlite3.Error, TypeError, ValueError, KeyError)  # pages that are torn, and values that are not as written

# A counter is never used again: AUTOINCREMENT remembers the highest, also of rows that are deleted. Outcomes lie in a
# table of their own, so that one is dropped without its operation being written again.
_TABLES = """
CREATE TABLE store (identity TEXT NOT NULL);
CREATE TABLE sessions (id TEXT PRIMARY KEY, heartbeat_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE samplings (number INTEGER PRIMARY KEY, session TEXT NOT NULL, model TEXT NOT NULL);
CREATE INDEX samplings_of_session ON samplings (session);
CREATE TABLE futures (
    counter INTEGER PRIMARY KEY AUTOINCREMENT,
    sampling INTEGER NOT NULL, seq INTEGER NOT NULL, content INTEGER NOT NULL,
    fate TEXT
);
CREATE TABLE outcomes (counter INTEGER PRIMARY KEY, landed_ms INTEGER NOT NULL, payload BLOB, failure TEXT);
"""


def connected(path: str, busy_ms: int) -> sqlite3.Connection:
    """A connection that waits so long for others, and whose commits are on the disk. Raises sqlite3.Error."""
    connection = sqlite3.connect(path, timeout=busy_ms / 1000, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {64 * 1024 * 1024}")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Make the tables in an empty file. Raises JournalError for a file of another kind; sqlite3.Error."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application, version) == (_APPLICATION, VERSION):
        return
    if tables:
        raise JournalError(
            f"{path!r} is a database of another program or version (application {application}, version {version}); "
            f"expected a journal of version {VERSION}, or no file"
        )
    connection.executescript(
        f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION}; "
        f"INSERT INTO store VALUES ('{StoreIdentity.fresh().number}'); COMMIT"
    )


def recovered_from(connection: sqlite3.Connection, path: str) -> Recovered:
    """All that is in it; its rows are read as they are asked for. Raises JournalError for what nobody wrote so."""
    try:
        return _recovered(connection, path)
    except _DAMAGE as error:
        raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> JournalError:
    return JournalError(f"cannot read the journal {path!r}, it is damaged: {error!r}; expected a copy that is whole")


def _recovered(connection: sqlite3.Connection, path: str) -> Recovered:
    (identity,) = connection.execute("SELECT identity FROM store").fetchone()
    highest = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'futures'").fetchone()
    return Recovered(
        identity=StoreIdentity(int(identity)),
        next_counter=highest[0] + 1 if highest is not None else 1,
        sessions=[SessionOpened(*row) for row in connection.execute("SELECT id, heartbeat_ms FROM sessions")],
        samplings=[
            SamplingOpened(*row)
            for row in connection.execute(
                "SELECT number, session, model FROM samplings WHERE session IN (SELECT id FROM sessions)"
            )
        ],
        rows=_rows(connection, path),
    )


def failure_json(failed: Failed) -> str:
    """A failure as its column holds it."""
    return json.dumps([failed.says, failed.category, failed.executed, failed.status])


def _rows(connection: sqlite3.Connection, path: str) -> Iterator[Row]:
    """Raises JournalError, in the midst of them."""
    try:
        yield from _read(connection)
    except _DAMAGE as error:
        raise _damaged(path, error) from None


def _read(connection: sqlite3.Connection) -> Iterator[Row]:
    rows = connection.execute(
        "SELECT futures.counter, sampling, seq, content, fate, landed_ms, payload, failure "
        "FROM futures LEFT JOIN outcomes USING (counter) ORDER BY futures.counter"
    )
    for counter, sampling, seq, content, fate, landed_ms, payload, failure in rows:
        accepted = Accepted(counter, sampling, seq, content)
        state = State[fate] if fate is not None else State.UNDELIVERED
        if state not in KEPT:
            yield Row(accepted, state)
        elif landed_ms is None:  # perhaps delivered, from memory, when its outcome could not be written
            yield Row(accepted, State.PENDING)
        else:
            yield Row(accepted, state, Finished(counter, landed_ms, _outcome(payload, failure)))


def _outcome(payload: bytes | None, failure: str | None) -> Outcome:
    if payload is not None:
        return Sampled(payload)
    says, category, executed, status = json.loads(failure or "null")
    return Failed(says=says, category=category, executed=Executed(executed), status=status)
