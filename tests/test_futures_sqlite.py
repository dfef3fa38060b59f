"""The journal in SQLite meets what disks and other processes do to it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from forwarder.futures import sqlite_journal
from forwarder.futures.clock import ManualClock
from forwarder.futures.errors import JournalError
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Gone, Sampled, Why
from forwarder.futures.recovery import LOST
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.sqlite_schema import connected
from forwarder.futures.store import Futures
from tests.crash_image import crash_image

ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)
LARGE = Sampled(b"x" * 100_000)


async def _opened(path: Path, *, busy_ms: int = 60_000, now_ms: int = 0) -> Futures:
    journal = SqliteJournal(str(path), busy_ms=busy_ms)
    return await Futures.open(clock=ManualClock(now_ms), journal=journal, ttl=Ttl(), limits=Limits())


async def _sampling(futures: Futures) -> str:
    return await futures.create_sampling_session(await futures.create_session(), "m")


async def _submitted(futures: Futures, sampling: str, seq_id: int) -> str:
    answer = await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 10)
    return answer.request_id


class Disk:
    """How many pages the database that is opened first may have; a page is 4 KiB."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._connections: list[sqlite3.Connection] = []
        monkeypatch.setattr(sqlite_journal, "connected", self._connected)

    def _connected(self, path: str, busy_ms: int) -> sqlite3.Connection:
        self._connections.append(connected(path, busy_ms))
        return self._connections[-1]

    def has(self, pages: int) -> None:
        """From now on, for the second connection to it, which writes; nothing is being written."""
        self._connections[1].execute(f"PRAGMA max_page_count = {pages}")


async def test_results_wait_for_another_process_that_holds_the_file_and_none_is_lost(tmp_path: Path) -> None:
    """While it is held nothing is told; when it is let go everything is durable."""
    path = tmp_path / "store.db"
    futures = await _opened(path)
    sampling = await _sampling(futures)
    ids = [await _submitted(futures, sampling, seq_id) for seq_id in range(20)]
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    resolving = [asyncio.ensure_future(futures.resolve(i, Sampled(i.encode()))) for i in ids]
    submitting = asyncio.ensure_future(_submitted(futures, sampling, 99))
    await asyncio.sleep(0)
    assert futures.counts.in_flight == 21
    other.execute("ROLLBACK")
    other.close()
    await asyncio.wait_for(asyncio.gather(*resolving, submitting), 60)
    crash_image(path, tmp_path / "after.db")
    await futures.shut_down(lambda _: ENDED)
    after = await _opened(tmp_path / "after.db")
    assert [after.look(i) for i in ids] == [Sampled(i.encode()) for i in ids]
    assert after.look(submitting.result()) == LOST
    await after.shut_down(lambda _: ENDED)


async def test_a_file_that_is_held_for_too_long_refuses_submits_and_results_are_written_later(tmp_path: Path) -> None:
    """A result is served from memory, counted, and durable once the file is free."""
    path = tmp_path / "store.db"
    futures = await _opened(path, busy_ms=1)
    sampling = await _sampling(futures)
    request_id = await _submitted(futures, sampling, 0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    await futures.resolve(request_id, LARGE)
    with pytest.raises(JournalError, match="locked"):
        await _submitted(futures, sampling, 1)
    assert (futures.look(request_id), futures.counts.unwritten, futures.counts.keys) == (LARGE, 1, 1)
    other.execute("ROLLBACK")
    other.close()
    await _submitted(futures, sampling, 1)
    await futures.shut_down(lambda _: ENDED)
    assert futures.counts.unwritten == 0
    after = await _opened(path)
    assert after.look(request_id) == LARGE
    await after.shut_down(lambda _: ENDED)


async def test_a_full_disk_refuses_what_does_not_fit_and_keeps_results_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each entry of a batch has its own verdict, and a result is written once there is room."""
    disk = Disk(monkeypatch)
    path = tmp_path / "store.db"
    futures = await _opened(path)
    sampling = await _sampling(futures)
    first, second = [await _submitted(futures, sampling, seq_id) for seq_id in range(2)]
    disk.has(20)
    small = Sampled(b"small")
    await asyncio.gather(futures.resolve(first, LARGE), futures.resolve(second, small))
    assert [futures.look(first), futures.look(second), futures.counts.unwritten] == [LARGE, small, 1]
    crash_image(path, tmp_path / "crashed.db")
    crashed = await _opened(tmp_path / "crashed.db")
    assert [crashed.look(first), crashed.look(second)] == [LOST, small]
    await crashed.shut_down(lambda _: ENDED)
    answers = await asyncio.gather(
        *(_submitted(futures, sampling, seq_id) for seq_id in range(2, 4000)), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, JournalError)]
    assert 0 < len(refused) == 4000 - futures.counts.keys < 4000
    assert "disk is full" in str(refused[0])
    disk.has(1_000_000)
    await _submitted(futures, sampling, 4000)
    await futures.shut_down(lambda _: ENDED)
    assert futures.counts.unwritten == 0
    after = await _opened(path)
    assert after.look(first) == LARGE
    await after.shut_down(lambda _: ENDED)


async def test_a_text_that_no_database_takes_is_refused_alone(tmp_path: Path) -> None:
    """The thread lives on, and what was written together with it is durable."""
    futures = await _opened(tmp_path / "store.db")
    session = await futures.create_session()
    creating = futures.create_sampling_session(session, "\ud800")
    good, bad = await asyncio.gather(futures.create_sampling_session(session, "m"), creating, return_exceptions=True)
    assert isinstance(bad, JournalError)
    assert isinstance(good, str)
    await _submitted(futures, good, 0)
    await futures.shut_down(lambda _: ENDED)


async def test_a_journal_has_one_process_and_no_other_kind_of_file(tmp_path: Path) -> None:
    """A server that would forget or mix up ids does not start."""
    futures = await _opened(tmp_path / "store.db")
    with pytest.raises(JournalError, match="in use by another process"):
        await _opened(tmp_path / "store.db")
    await futures.shut_down(lambda _: ENDED)
    again = await _opened(tmp_path / "store.db")
    await again.shut_down(lambda _: ENDED)
    (tmp_path / "text.db").write_text("no database " * 100)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE sessions (id)")
    other.close()
    for name, says in (("text.db", "not a database"), ("other.db", "another program"), ("no/such.db", "No such file")):
        with pytest.raises(JournalError, match=says):
            await _opened(tmp_path / name)


async def test_a_journal_that_is_reached_by_a_link_is_the_same_one(tmp_path: Path) -> None:
    """Two servers on one file would each give out the other's ids."""
    futures = await _opened(tmp_path / "store.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "store.db")
    with pytest.raises(JournalError, match="in use by another process"):
        await _opened(tmp_path / "link.db")
    await futures.shut_down(lambda _: ENDED)


async def test_ids_go_on_after_a_restart_and_of_another_store_none_is_known(tmp_path: Path) -> None:
    """No id is used again, also when all its operations are forgotten."""
    futures = await _opened(tmp_path / "store.db")
    first = await _submitted(futures, await _sampling(futures), 0)
    await futures.shut_down(lambda _: ENDED)
    database = sqlite3.connect(tmp_path / "store.db")
    database.execute("DELETE FROM futures")
    database.commit()
    database.close()
    futures = await _opened(tmp_path / "store.db")
    assert futures.look(first) == Gone(Why.FORGOTTEN)
    assert int(await _submitted(futures, await _sampling(futures), 0)) == int(first) + 1
    other = await _opened(tmp_path / "other.db")
    assert other.look(first) == Gone(Why.FOREIGN)
    for each in (futures, other):
        await each.shut_down(lambda _: ENDED)


async def test_a_clock_that_was_set_back_keeps_nothing_for_longer_than_its_time(tmp_path: Path) -> None:
    """A time that has not come yet is taken for now."""
    path = tmp_path / "store.db"
    futures = await _opened(path, now_ms=10**12)
    request_id = await _submitted(futures, await _sampling(futures), 0)
    await futures.resolve(request_id, LARGE)
    await futures.shut_down(lambda _: ENDED)
    clock = ManualClock(0)
    futures = await Futures.open(clock=clock, journal=SqliteJournal(str(path)), ttl=Ttl(), limits=Limits())
    clock.advance(Ttl().session_ms)
    assert futures.counts.sessions == 0
    clock.advance(Ttl().undelivered_ms - Ttl().session_ms)
    assert futures.look(request_id) == Gone(Why.EXPIRED)
    await futures.shut_down(lambda _: ENDED)
