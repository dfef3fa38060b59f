"""A journal whose file is not as it was written is refused in one message, whatever it holds."""

import sqlite3
import sys
from asyncio import create_subprocess_exec, subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from forwarder.__main__ import COULD_NOT_RUN
from forwarder.futures.clock import ManualClock
from forwarder.futures.errors import JournalError
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Sampled
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures

ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)
VALUES = ("NULL", "'x'", "-1", str(2**62))
COLUMNS = {
    "store": ("identity",),
    "sessions": ("id", "heartbeat_ms"),
    "samplings": ("number", "session", "model"),
    "futures": ("counter", "sampling", "seq", "content", "fate"),
    "outcomes": ("counter", "landed_ms", "payload", "failure"),
    "sqlite_sequence": ("seq",),
}
FAILURES = ("null", "[]", '["x", "server", "no", "502"]', '[1, "server", "no", 502]', '["x", "server", "maybe", 502]')
DAMAGES = (
    "DELETE FROM store",
    "UPDATE outcomes SET payload = NULL",
    "UPDATE futures SET fate = 'LOST'",
    "UPDATE futures SET fate = 'ACCEPTING'",
    "DROP TABLE outcomes",
    "ALTER TABLE sessions ADD COLUMN more",
    "CREATE TRIGGER t AFTER INSERT ON futures BEGIN DELETE FROM futures; END",
    *(f"UPDATE outcomes SET payload = NULL, failure = '{each}'" for each in FAILURES),
)


async def _opened(path: Path) -> Futures:
    return await Futures.open(clock=ManualClock(0), journal=SqliteJournal(str(path)), ttl=Ttl(), limits=Limits())


async def _submitted(futures: Futures, sampling: str, seq_id: int) -> str:
    return (await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 10)).request_id


@pytest.fixture
async def whole(tmp_path: Path) -> tuple[Path, str]:
    """A journal with two operations, and the id of the one that has landed."""
    path = tmp_path / "store.db"
    futures = await _opened(path)
    sampling = await futures.create_sampling_session(await futures.create_session(), "m")
    request_id = await _submitted(futures, sampling, 0)
    await futures.resolve(request_id, Sampled(b"x"))
    await _submitted(futures, sampling, 1)
    await futures.shut_down(lambda _: ENDED)
    return path, request_id


def _damage(path: Path, damage: str) -> bool:
    """False: the file does not take it."""
    with closing(sqlite3.connect(path)) as database:
        try:
            database.execute(damage)
        except sqlite3.IntegrityError:
            return False
        database.commit()
    return True


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_journal_is_refused_and_let_go(whole: tuple[Path, str], damage: str) -> None:
    """It is found out while it is read, before anything is served from it; then it is free for who mends it."""
    path, _ = whole
    assert _damage(path, damage)
    for _ in range(2):
        with pytest.raises(JournalError, match="damaged"):
            await _opened(path)


def _changes() -> Iterator[str]:
    for table, columns in COLUMNS.items():
        for column in columns:
            for value in VALUES:
                yield (
                    f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})"
                    if (table != "sessions")
                    else f"UPDATE {table} SET {column} = {value}"
                )


async def _refusal_or_use(path: Path, request_id: str) -> str | None:
    """What it was refused with; None: it was opened, and used."""
    try:
        futures = await _opened(path)
    except JournalError as error:
        return str(error)
    futures.look(request_id)
    sampling = await futures.create_sampling_session(await futures.create_session(), "m")
    await _submitted(futures, sampling, 0)
    await futures.shut_down(lambda _: ENDED)
    return None


async def test_any_value_in_any_column_is_refused_or_served_and_breaks_nothing(whole: tuple[Path, str]) -> None:
    """What a column may not hold is refused; what it may hold is not told from what was written."""
    path, request_id = whole
    image, refused, served = path.read_bytes(), 0, 0
    for change in _changes():
        path.write_bytes(image)
        if not _damage(path, change):
            continue
        says = await _refusal_or_use(path, request_id)
        assert says is None or "damaged" in says, change
        refused += says is not None
        served += says is None
    assert refused > 20
    assert served > 5


@pytest.mark.parametrize(
    "content", [b"garbage " * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000, "directory"], ids=["text", "head", "dir"]
)
async def test_a_server_says_in_one_line_that_its_store_cannot_be_used(tmp_path: Path, content: bytes | str) -> None:
    """And its exit code says that it could not run."""
    path = tmp_path / "store.db"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.mkdir()
    command = ("-m", "forwarder", "--listen", "127.0.0.1:0", "--router", "http://127.0.0.1:1")
    process = await create_subprocess_exec(
        sys.executable, *command, "--store", f"sqlite:{path}", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    assert (process.returncode, out) == (COULD_NOT_RUN, b"")
    (line,) = err.decode().splitlines()
    assert f"--store: cannot open the journal {str(path)!r}" in line
