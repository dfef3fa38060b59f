"""The store makes every move of the table of states, over a crash too, and no other."""

from pathlib import Path

import pytest

from forwarder.futures import fates, states
from forwarder.futures.clock import ManualClock
from forwarder.futures.errors import JournalError
from forwarder.futures.journal import Journal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Gone, Sampled, Why
from forwarder.futures.recovery import LOST
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.states import TRANSITIONS, Event, State
from forwarder.futures.store import Futures
from tests.crash_image import crash_image
from tests.held_journal import HeldJournal

TTL = Ttl()
ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)
RESULT = Sampled(b"result")


class _Recording(dict[tuple[State, Event], State]):
    """A table that remembers what was looked up in it."""

    def __init__(self) -> None:
        super().__init__(TRANSITIONS)
        self.used: set[tuple[State, Event]] = set()

    def __getitem__(self, key: tuple[State, Event]) -> State:
        self.used.add(key)
        return super().__getitem__(key)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> _Recording:
    """The table of states, with pages of fates that grow old at once."""
    recording = _Recording()
    monkeypatch.setattr(states, "TRANSITIONS", recording)
    monkeypatch.setattr(fates, "PAGE", 2)
    monkeypatch.setattr(fates, "RECENT_PAGES", 1)
    return recording


async def _store(clock: ManualClock, journal: Journal) -> Futures:
    return await Futures.open(clock=clock, journal=journal, ttl=TTL, limits=Limits())


async def _withdrawn() -> None:
    journal = HeldJournal()
    futures = await _store(ManualClock(0), journal)
    sampling = await futures.create_sampling_session(await futures.create_session(), "m")
    journal.refuses = JournalError("full")
    with pytest.raises(JournalError):
        await futures.submit(Key(sampling_session_id=sampling, seq_id=0), b"", 0)


async def test_every_move_of_the_table_is_made(table: _Recording, tmp_path: Path) -> None:
    """A state or event that nothing uses is not in the table; and each leads to what a poll is told."""
    clock = ManualClock(0)
    futures = await _store(clock, SqliteJournal(str(tmp_path / "a.db")))
    session = await futures.create_session()
    sampling = await futures.create_sampling_session(session, "m")
    keys = [Key(sampling_session_id=sampling, seq_id=seq_id) for seq_id in range(6)]
    delivered, evicted, expired, pending, undelivered, _ = [(await futures.submit(k, b"", 9)).request_id for k in keys]
    for request_id in (evicted, expired):
        await futures.resolve(request_id, RESULT)
    futures.possibly_delivered(evicted)
    while clock.now_ms() < TTL.undelivered_ms:
        clock.advance(TTL.session_ms - 1)
        await futures.heartbeat(session)
    for request_id in (delivered, undelivered):
        await futures.resolve(request_id, RESULT)
    futures.possibly_delivered(delivered)
    futures.possibly_delivered(delivered)
    await futures.heartbeat(session)  # so that all before it is durable
    crash_image(tmp_path / "a.db", tmp_path / "b.db")
    await futures.shut_down(lambda _: ENDED)

    futures = await _store(clock, SqliteJournal(str(tmp_path / "b.db")))
    looks = [futures.look(request_id) for request_id in (delivered, evicted, expired, pending, undelivered)]
    assert looks == [RESULT, Gone(Why.EVICTED), Gone(Why.EXPIRED), LOST, RESULT]
    assert not (await futures.submit(keys[3], b"", 9)).fresh
    futures.possibly_delivered(expired)
    futures.possibly_delivered(expired)
    assert futures.look(expired) == Gone(Why.EVICTED)
    clock.advance(TTL.undelivered_ms)  # the session has ended, and the page of its first ids is old
    assert futures.look(expired) == futures.look(undelivered) == Gone(Why.FORGOTTEN)
    futures.possibly_delivered(expired)
    await futures.shut_down(lambda _: ENDED)
    await _withdrawn()
    assert set(TRANSITIONS) - table.used == {(State.PENDING, Event.WITHDRAWN)}  # tests/test_futures_submits.py
