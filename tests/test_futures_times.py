"""When something is over, to the millisecond; whatever timers do, and over a restart."""

import asyncio
from pathlib import Path

import pytest

from forwarder.futures.clock import Act, ManualClock, Timer
from forwarder.futures.errors import ClosedError, JournalError, UnknownSessionError
from forwarder.futures.journal import Journal, NoJournal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Gone, Sampled, Why
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures
from tests.held_journal import HeldJournal

TTL = Ttl(undelivered_ms=1000, retrieved_ms=100, session_ms=5000)
RESULT = Sampled(b"result")
ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)


class LateClock(ManualClock):
    """A clock whose timers never run: a loop that is busy."""

    def call_at(self, due_ms: int, act: Act) -> Timer:
        return Timer(due_ms, act)


async def _store(clock: ManualClock, journal: Journal) -> Futures:
    return await Futures.open(clock=clock, journal=journal, ttl=TTL, limits=Limits())


async def _sampling(futures: Futures) -> str:
    return await futures.create_sampling_session(await futures.create_session(), "m")


async def _landed(futures: Futures) -> str:
    key = Key(sampling_session_id=await _sampling(futures), seq_id=0)
    request_id = (await futures.submit(key, b"", 10)).request_id
    await futures.resolve(request_id, RESULT)
    return request_id


@pytest.mark.parametrize("clock", [ManualClock(0), LateClock(0)])
async def test_an_outcome_has_its_whole_time_from_when_it_landed_and_from_each_delivery(clock: ManualClock) -> None:
    """Not from submit, and with the last delivery that counts; the counts follow when a timer could run."""
    futures = await _store(clock, NoJournal())
    key = Key(sampling_session_id=await _sampling(futures), seq_id=0)
    request_id = (await futures.submit(key, b"", 10)).request_id
    clock.advance(2000)
    await futures.resolve(request_id, RESULT)
    clock.advance(999)
    assert futures.look(request_id) == RESULT
    futures.possibly_delivered(request_id)
    clock.advance(50)
    futures.possibly_delivered(request_id)
    clock.advance(99)
    assert futures.look(request_id) == RESULT
    clock.advance(1)
    assert futures.look(request_id) == Gone(Why.EVICTED)
    undelivered = await _landed(futures)
    clock.advance(999)
    assert futures.look(undelivered) == RESULT
    clock.advance(1)
    assert futures.look(undelivered) == Gone(Why.EXPIRED)
    assert (futures.counts.evicted, futures.counts.expired) == (1, 1)


@pytest.mark.parametrize("clock", [ManualClock(0), LateClock(0)])
async def test_a_session_ends_its_time_after_its_last_heartbeat_and_not_before_others(clock: ManualClock) -> None:
    """And with it its sampling sessions; a heartbeat comes too late then."""
    futures = await _store(clock, NoJournal())
    beaten, silent = await futures.create_session(), await futures.create_session()
    sampling = await futures.create_sampling_session(silent, "m")
    clock.advance(4999)
    await futures.heartbeat(beaten)
    assert futures.sampling_session(sampling).model == "m"
    clock.advance(1)
    with pytest.raises(UnknownSessionError):
        futures.sampling_session(sampling)
    with pytest.raises(UnknownSessionError):
        await futures.heartbeat(silent)
    assert await futures.create_session()
    assert futures.counts.sessions == 2
    clock.advance(4998)
    await futures.heartbeat(beaten)


async def test_a_store_that_was_away_keeps_each_outcome_for_long_enough_to_be_fetched(tmp_path: Path) -> None:
    """What was due meanwhile, or would be at once, has the retrieved time from the restart."""
    journal = str(tmp_path / "store.db")
    futures = await _store(ManualClock(0), SqliteJournal(journal))
    request_id = await _landed(futures)
    await futures.shut_down(lambda _: ENDED)
    clock = ManualClock(950)
    futures = await _store(clock, SqliteJournal(journal))
    clock.advance(99)
    assert futures.look(request_id) == RESULT
    clock.advance(1)
    assert futures.look(request_id) == Gone(Why.EXPIRED)
    await futures.shut_down(lambda _: ENDED)


async def test_a_submit_that_is_taken_back_after_its_session_ended_gives_its_key_back_once() -> None:
    """The session's end has taken the key already."""
    clock, journal = ManualClock(0), HeldJournal()
    futures = await _store(clock, journal)
    sampling = await _sampling(futures)
    journal.holds = True
    submitting = asyncio.ensure_future(futures.submit(Key(sampling_session_id=sampling, seq_id=0), b"", 10))
    await asyncio.sleep(0)
    clock.advance(TTL.session_ms)
    journal.release(JournalError("full"))
    with pytest.raises(JournalError):
        await submitting
    counts = futures.counts
    assert (counts.keys, counts.sessions, counts.in_flight) == (0, 0, 0)
    journal.holds = False
    sampling = await _sampling(futures)
    assert (await futures.submit(Key(sampling_session_id=sampling, seq_id=0), b"", 10)).fresh
    assert futures.counts.keys == 1


async def test_a_submit_that_a_shutdown_refuses_is_not_in_the_journal(tmp_path: Path) -> None:
    """After the restart its key is free: nothing ran, and nothing says that it may have."""
    journal = str(tmp_path / "store.db")
    futures = await _store(ManualClock(0), SqliteJournal(journal))
    key = Key(sampling_session_id=await _sampling(futures), seq_id=0)
    submitting = asyncio.ensure_future(futures.submit(key, b"", 10))
    await asyncio.sleep(0)
    await futures.shut_down(lambda _: ENDED)
    with pytest.raises(ClosedError):
        await submitting
    futures = await _store(ManualClock(0), SqliteJournal(journal))
    assert (await futures.submit(key, b"", 10)).fresh
    await futures.shut_down(lambda _: ENDED)
