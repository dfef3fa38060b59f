"""A submit meets its journal: what is being written when others come, leave, or the disk is full."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from forwarder.futures.clock import ManualClock
from forwarder.futures.entries import Accepted, Forgotten
from forwarder.futures.errors import (
    ClosedError,
    FullError,
    JournalError,
    OtherContentError,
    StoreError,
    TooLargeError,
    UnknownSessionError,
)
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import PENDING, Executed, Failed, Sampled
from forwarder.futures.store import Futures
from forwarder.futures.submits import Submitted
from tests.held_journal import HeldJournal

FULL = JournalError("database or disk is full")
ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)


class Store:
    """A store with one sampling session, and a journal that holds what comes from now on."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.journal = HeldJournal()
        self.clock = ManualClock(1_000_000)
        self.limits = limits or Limits()

    async def opened(self) -> "Store":
        self.futures = await Futures.open(clock=self.clock, journal=self.journal, ttl=Ttl(), limits=self.limits)
        self.session = await self.futures.create_session()
        self.sampling = await self.futures.create_sampling_session(self.session, "m")
        self.journal.holds = True
        return self

    async def submit(self, seq_id: int = 0, content: bytes = b"a", cost_bytes: int = 10) -> Submitted:
        key = Key(sampling_session_id=self.sampling, seq_id=seq_id)
        return await self.futures.submit(key, content, cost_bytes)

    async def accepted(self, seq_id: int = 0) -> str:
        submitting = await started(self.submit(seq_id))
        self.journal.release()
        answer: Submitted = await submitting
        return answer.request_id


async def started(work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    """It has run as far as it gets by itself."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    return task


async def test_nobody_is_told_an_id_before_it_is_durable_and_one_of_many_is_told_to_run_it() -> None:
    """All who submit the same while it is being written get the first id, from one entry."""
    store = await Store().opened()
    submitting = [await started(store.submit()) for _ in range(3)]
    assert not any(task.done() for task in submitting)
    assert [type(entry) for entry, _ in store.journal.held] == [Accepted]
    store.journal.release()
    answers = [await task for task in submitting]
    assert len({answer.request_id for answer in answers}) == 1
    assert [answer.fresh for answer in answers] == [True, False, False]
    assert await store.submit() == Submitted(answers[0].request_id, fresh=False)


@pytest.mark.parametrize("when", ["before it is durable", "as it becomes durable"])
async def test_when_the_first_who_submitted_leaves_the_next_one_runs_it(when: str) -> None:
    """Nothing is accepted that nobody runs."""
    store = await Store().opened()
    first, second = await started(store.submit()), await started(store.submit())
    if when == "as it becomes durable":
        store.journal.release()
    first.cancel()
    await asyncio.sleep(0)
    store.journal.release()
    assert (await second).fresh
    assert first.cancelled()


@pytest.mark.parametrize("when", ["before it is durable", "as it becomes durable"])
async def test_what_all_who_submitted_have_left_is_taken_back(when: str) -> None:
    """No id of it was told, so that its key is free and it takes no room."""
    store = await Store().opened()
    before = store.futures.counts
    submitting = [await started(store.submit()) for _ in range(2)]
    if when == "as it becomes durable":
        store.journal.release()
    for task in submitting:
        task.cancel()
    await asyncio.sleep(0)
    store.journal.release()
    after = store.futures.counts
    assert (after.in_flight, after.keys) == (before.in_flight, before.keys)
    store.journal.release()
    assert store.journal.written[-1] == Forgotten(1, 1)
    again = await started(store.submit(content=b"b"))
    store.journal.release()
    assert (await again).fresh


async def test_a_submit_that_cannot_be_written_is_refused_to_all_and_leaves_nothing_behind() -> None:
    """A later one is a new one, and its id was never told before."""
    store = await Store().opened()
    submitting = [await started(store.submit()) for _ in range(2)]
    store.journal.release(FULL)
    for task in submitting:
        with pytest.raises(JournalError, match="disk is full"):
            await task
    assert store.futures.counts.in_flight == store.futures.counts.keys == 0
    assert (await started(store.submit())) is not None
    store.journal.release()
    assert store.futures.counts.in_flight == 1


async def test_an_outcome_is_told_when_it_is_durable_and_first_outcomes_count() -> None:
    """Between the two, it is pending."""
    store = await Store().opened()
    request_id = await store.accepted()
    polling = [await started(store.futures.landed(request_id)) for _ in range(3)]
    outcome = Sampled(b"result")
    resolving = await started(store.futures.resolve(request_id, outcome))
    await store.futures.resolve(request_id, Sampled(b"other"))
    assert store.futures.look(request_id) == PENDING
    polling[0].cancel()
    await asyncio.sleep(0)
    assert store.futures.waiting() == {request_id: 2}
    store.journal.release()
    await resolving
    assert all([await task is outcome for task in polling[1:]])
    assert store.futures.waiting() == {}


async def test_an_outcome_that_cannot_be_written_is_served_from_memory() -> None:
    """It is not lost for want of a disk."""
    store = await Store().opened()
    request_id = await store.accepted()
    resolving = await started(store.futures.resolve(request_id, Sampled(b"result")))
    store.journal.release(FULL)
    await resolving
    assert store.futures.look(request_id) == Sampled(b"result")


async def test_a_forward_that_is_cancelled_while_its_outcome_is_written_lands_all_the_same() -> None:
    """The writing belongs to nobody's task."""
    store = await Store().opened()
    request_id = await store.accepted()
    resolving = await started(store.futures.resolve(request_id, Sampled(b"result")))
    resolving.cancel()
    await asyncio.sleep(0)
    store.journal.release()
    assert store.futures.look(request_id) == Sampled(b"result")


async def test_what_is_full_refuses_new_keys_and_still_knows_the_old_ones() -> None:
    """Nothing that is kept makes room: only time does."""
    store = await Store(Limits(max_bytes=20_000)).opened()
    request_id = await store.accepted()
    with pytest.raises(FullError, match="come again"):
        await store.submit(1, cost_bytes=12_000)
    with pytest.raises(TooLargeError):
        await store.submit(1, cost_bytes=20_000)
    assert (await store.submit()).request_id == request_id
    with pytest.raises(OtherContentError, match="seq_id 0"):
        await store.submit(0, b"b", 12_000)
    resolving = await started(store.futures.resolve(request_id, Sampled(b"")))
    store.journal.release()
    await resolving
    fits = await started(store.submit(1, cost_bytes=12_000))
    store.journal.release()
    assert (await fits).fresh


async def test_a_shutdown_gives_every_pending_operation_an_outcome_and_accepts_nothing_more() -> None:
    """What was being accepted is refused, and nothing of it stays."""
    store = await Store().opened()
    request_id = await store.accepted()
    polling = await started(store.futures.landed(request_id))
    submitting = await started(store.submit(1))
    ending = await started(store.futures.shut_down(lambda _: ENDED))
    with pytest.raises(ClosedError):
        await store.submit(2)
    await asyncio.wait_for(ending, 60)
    with pytest.raises(ClosedError):
        await submitting
    assert await polling == ENDED
    assert store.futures.counts.in_flight == 0
    assert Forgotten(2, 2) in [*store.journal.written, *(entry for entry, _ in store.journal.held)]


async def test_a_session_without_a_journal_entry_is_none() -> None:
    """Whoever was told an id may rely on it over a crash."""
    store = await Store().opened()
    before = store.futures.counts
    opening = await started(store.futures.create_session())
    store.journal.release(FULL)
    with pytest.raises(JournalError):
        await opening
    creating = await started(store.futures.create_sampling_session(store.session, "m"))
    store.journal.release(FULL)
    with pytest.raises(JournalError):
        await creating
    assert store.futures.counts == before
    with pytest.raises(UnknownSessionError):
        await store.futures.create_sampling_session("session-0", "m")
    assert issubclass(JournalError, StoreError)
