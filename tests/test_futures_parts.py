"""The parts of a store, each by itself: clock, ids, keys, fates, outcomes, limits."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwarder.futures import fates as fates_module
from forwarder.futures.clock import ManualClock, SystemClock
from forwarder.futures.errors import FullError, TooLargeError
from forwarder.futures.fates import Fates
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.key import Key
from forwarder.futures.keys import Keys, Known
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import MOST_SAYS, Executed, Failed
from forwarder.futures.room import Room
from forwarder.futures.states import State

IDENTITY = StoreIdentity(1 << 63 | 5)


def test_timers_run_in_the_order_of_their_time_and_then_as_they_were_set() -> None:
    """Each at its own time; what a timer sets on the way runs too, and what is cancelled does not."""
    clock = ManualClock(100)
    ran: list[tuple[str, int]] = []

    def set_another() -> None:
        clock.call_at(125, lambda: ran.append(("b", clock.now_ms())))

    clock.call_at(130, lambda: ran.append(("c", clock.now_ms())))
    clock.call_at(120, lambda: ran.append(("a", clock.now_ms())))
    clock.call_at(120, set_another)
    clock.call_at(121, lambda: ran.append(("never", 0))).cancel()
    clock.call_at(131, lambda: ran.append(("later", 0)))
    clock.advance(30)
    assert ran == [("a", 120), ("b", 125), ("c", 130)]
    assert clock.now_ms() == 130


def test_a_manual_clock_runs_one_timer_a_step_and_then_stands_at_the_time_asked_for() -> None:
    """So that whoever moves it may let things settle in between."""
    clock = ManualClock(0)
    ran: list[int] = []
    clock.call_at(1, lambda: ran.append(1))
    clock.call_at(1, lambda: ran.append(2))
    assert (clock.step(5), ran, clock.now_ms()) == (True, [1], 1)
    assert (clock.step(5), ran, clock.now_ms()) == (True, [1, 2], 1)
    assert (clock.step(5), clock.now_ms()) == (False, 5)
    with pytest.raises(ValueError, match="until_ms is 4; expected 5 or later"):
        clock.step(4)


async def test_a_timer_of_the_system_runs_once_and_never_when_it_was_cancelled() -> None:
    """One timer of the loop serves all, also one that is due before the others."""
    clock = SystemClock(tick_ms=1)
    ran: list[str] = []
    done = asyncio.Event()
    clock.call_at(clock.now_ms() + 3_600_000, lambda: ran.append("late"))
    cancelled = clock.call_at(clock.now_ms(), lambda: ran.append("cancelled"))
    first = clock.call_at(clock.now_ms(), lambda: ran.append("due"))
    clock.call_at(clock.now_ms() + 2, done.set)
    cancelled.cancel()
    await asyncio.wait_for(done.wait(), 60)
    assert ran == ["due"]
    assert not first.is_set


@given(counter=st.integers(1, (1 << 64) - 1))
def test_an_id_gives_back_its_counter_to_its_own_store_alone(counter: int) -> None:
    """Another store takes it for none of its own."""
    assert IDENTITY.counter_of(IDENTITY.id_of(counter)) == counter
    assert StoreIdentity(1 << 63 | 4).counter_of(IDENTITY.id_of(counter)) is None


@pytest.mark.parametrize(
    "written", ["0{}", " {}", "{}\n", "+{}", "{}0", "-{}", "1{}", "", "x", "9" * 5000, "1_0", "{}.0", "١٢"]
)
def test_an_id_that_is_not_written_as_its_store_writes_it_is_none(written: str) -> None:
    """Two texts are never one operation."""
    assert IDENTITY.counter_of(written.format(IDENTITY.id_of(7))) is None


def test_what_cannot_be_is_refused_and_quoted() -> None:
    """By every part."""
    with pytest.raises(ValueError, match="seq_id is -1"):
        Key(sampling_session_id="s", seq_id=-1)
    with pytest.raises(ValueError, match="identity 5"):
        StoreIdentity(5)
    with pytest.raises(ValueError, match="session_ms is 0"):
        Ttl(session_ms=0)
    with pytest.raises(ValueError, match="retrieved_ms is 11; expected at most undelivered_ms, which is 10"):
        Ttl(undelivered_ms=10, retrieved_ms=11)
    with pytest.raises(ValueError, match="max_futures is -1"):
        Limits(max_futures=-1)


@pytest.mark.parametrize("character", ["a", "é", "漢", "🂡"])
def test_what_a_failure_says_takes_no_more_than_was_reserved_for_it(character: str) -> None:
    """In any alphabet."""
    failed = Failed(says=character * 10_000, category="server", executed=Executed.YES, status=502)
    assert len(failed.says.encode()) <= MOST_SAYS
    assert failed.says.endswith(" ...")


def test_what_does_not_fit_is_refused_and_what_never_can_is_refused_for_good() -> None:
    """To the byte; and a refusal takes nothing."""
    room = Room(Limits(max_bytes=100, max_futures=2))
    room.take(60)
    with pytest.raises(FullError, match="60 of 100"):
        room.take(41)
    with pytest.raises(FullError, match="2 operations"):
        room.take(1, futures=2)
    with pytest.raises(TooLargeError, match="101 bytes"):
        room.take(101)
    room.take(40)
    room.give(100)
    assert room.taken_bytes == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=60))
def test_packed_keys_are_a_dictionary(steps: list[tuple[bool, int]]) -> None:
    """Whatever is put and dropped, in whatever order."""
    keys, model = Keys(), dict[int, Known]()
    for counter, (put, seq_id) in enumerate(steps):
        if put and seq_id not in model:
            model[seq_id] = Known(counter, counter * 7)
            keys.put(seq_id, model[seq_id])
        elif not put:
            assert keys.drop(seq_id) is (model.pop(seq_id, None) is not None)
    assert {seq_id: known for seq_id in range(21) if (known := keys.get(seq_id)) is not None} == model
    assert sorted(keys.counters) == sorted(known.counter for known in model.values())
    assert len(keys) == len(model)


@pytest.fixture
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fates_module, "PAGE", 4)
    monkeypatch.setattr(fates_module, "RECENT_PAGES", 2)


@pytest.mark.usefixtures("_small_pages")
def test_a_page_of_fates_is_forgotten_when_nothing_holds_it_and_it_is_old() -> None:
    """Neither alone is enough; and its room is given back."""
    forgotten: list[tuple[int, int]] = []
    room = Room(Limits())
    fates = Fates(room, lambda first, last: forgotten.append((first, last)))
    for counter in range(4, 24):
        fates.hold(counter)
    for counter in range(4, 12):
        fates.set(counter, State.EVICTED)
    keys = Keys()
    for counter in range(4, 11):
        keys.put(counter, Known(counter, 0))
    fates.release_all(keys.counters)
    assert forgotten == [(4, 7)]
    assert (fates.of(4), fates.of(8)) == (State.FORGOTTEN, State.EVICTED)
    fates.release(11)
    assert forgotten == [(4, 7), (8, 11)]
    for counter in range(16, 24):
        fates.release(counter)
    assert len(fates) == 3
    fates.hold(24)
    assert forgotten == [(4, 7), (8, 11), (16, 19)]
    assert room.taken_bytes == 3 * fates_module.PAGE_BYTES
