"""The tables of a journal in SQLite: made, and opened."""

import json
import sqlite3

from forwarder.futures.errors import JournalError
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.outcome import Failed

VERSION = 1
_APPLICATION = 0x52505246  # "RPRF", in the file's header

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
    """Make the tables in an empty file. Raises JournalError for a file of another kind, or with other tables;
    sqlite3.Error.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")}
    if (application, version) == (_APPLICATION, VERSION):
        if tables != {each.strip() for each in _TABLES.split(";") if each.strip()}:
            raise damaged(path, f"its tables are not those of version {VERSION}")
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


def damaged(path: str, says: object) -> JournalError:
    """What is in it is not what was written."""
    return JournalError(f"cannot read the journal {path!r}, it is damaged: {says}; expected a copy that is whole")


def failure_json(failed: Failed) -> str:
    """A failure as its column holds it."""
    return json.dumps([failed.says, failed.category, failed.executed, failed.status])
