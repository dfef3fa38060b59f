"""The store against a naive model: submits, re-submits, polls, deliveries, time and crashes, in any order."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from forwarder.futures.clock import ManualClock
from forwarder.futures.errors import OtherContentError, UnknownSessionError
from forwarder.futures.journal import Journal, NoJournal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Gone, Outcome, Sampled, Why
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.states import ImpossibleError
from forwarder.futures.store import Futures
from tests.crash_image import crash_image
from tests.futures_model import Model, ModelSession, Operation

T = TypeVar("T")

TTL = Ttl(undelivered_ms=1000, retrieved_ms=100, session_ms=400, hold_ms=300)
OUTCOMES = st.one_of(
    st.builds(Sampled, st.binary(max_size=5)),
    st.builds(
        Failed,
        says=st.text(max_size=5),
        category=st.just("server"),
        executed=st.sampled_from(Executed),
        status=st.just(502),
    ),
)
ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)


class StoreMachine(RuleBasedStateMachine):
    """A store without a journal."""

    sessions: Bundle[str] = Bundle("sessions")
    samplings: Bundle[str] = Bundle("samplings")
    operations: Bundle[Operation] = Bundle("operations")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock(5000)
        self.model = Model(TTL, 5000)
        self.polls: list[tuple[Operation, asyncio.Task[Outcome | Gone]]] = []
        self.futures = self.opened()

    def journal(self) -> Journal:
        return NoJournal()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    def opened(self) -> Futures:
        return self.run(Futures.open(clock=self.clock, journal=self.journal(), ttl=TTL, limits=Limits()))

    @rule(target=sessions)
    def begin_session(self) -> str:
        session_id = self.run(self.futures.create_session())
        self.model.sessions[session_id] = ModelSession(id=session_id, beat_ms=self.model.now_ms)
        return session_id

    @rule(target=samplings, session=sessions)
    def begin_sampling(self, session: str) -> Any:
        if not self.model.lives(session):
            with pytest.raises(UnknownSessionError):
                self.run(self.futures.create_sampling_session(session, "m"))
            return multiple()
        sampling = self.run(self.futures.create_sampling_session(session, "m"))
        self.model.sessions[session].samplings.append(sampling)
        return sampling

    @rule(session=sessions)
    def beat(self, session: str) -> None:
        if not self.model.lives(session):
            with pytest.raises(UnknownSessionError):
                self.run(self.futures.heartbeat(session))
            return
        self.run(self.futures.heartbeat(session))
        self.model.sessions[session].beat_ms = self.model.now_ms

    @rule(
        target=operations,
        sampling=samplings,
        seq_id=st.integers(0, 2),
        content=st.sampled_from([b"a", b"a", b"b"]),
        times=st.integers(1, 3),
    )
    def submit(self, sampling: str, seq_id: int, content: bytes, times: int) -> Any:
        key = Key(sampling_session_id=sampling, seq_id=seq_id)
        if not self.model.lives(self.model.session_of(sampling).id):
            with pytest.raises(UnknownSessionError):
                self.run(self.futures.submit(key, content, 10))
            return multiple()
        known = self.model.known(sampling, seq_id)
        if known is not None and known.content != content:
            with pytest.raises(OtherContentError):
                self.run(self.futures.submit(key, content, 10))
            return multiple()

        async def at_once() -> list[tuple[str, bool]]:
            answers = await asyncio.gather(*(self.futures.submit(key, content, 10) for _ in range(times)))
            return [(answer.request_id, answer.fresh) for answer in answers]

        answers = self.run(at_once())
        assert len({request_id for request_id, _ in answers}) == 1
        assert sum(fresh for _, fresh in answers) == (known is None)
        if known is not None:
            assert answers[0][0] == known.id
            return known
        assert answers[0][0] not in self.model.operations
        operation = Operation(id=answers[0][0], sampling=sampling, seq_id=seq_id, content=content)
        self.model.operations[operation.id] = operation
        return operation

    @rule(operation=operations, outcome=OUTCOMES)
    def resolve(self, operation: Operation, outcome: Outcome) -> None:
        self.run(self.futures.resolve(operation.id, outcome))
        self.model.land(operation, outcome)

    @rule(operation=operations)
    def poll(self, operation: Operation) -> None:
        self.polls.append((operation, self.loop.create_task(self.futures.landed(operation.id))))

    @rule(which=st.integers(0, 10))
    def leave_a_poll(self, which: int) -> None:
        if self.polls:
            _, task = self.polls.pop(which % len(self.polls))
            task.cancel()

    @rule(operation=operations)
    def possibly_deliver(self, operation: Operation) -> None:
        if operation.outcome is None:
            with pytest.raises(ImpossibleError):
                self.futures.possibly_delivered(operation.id)
        else:
            self.futures.possibly_delivered(operation.id)
            self.model.deliver(operation)

    @rule(by_ms=st.sampled_from([1, 99, 100, 101, 399, 400, 900, 1000]))
    def advance(self, by_ms: int) -> None:
        self.clock.advance(by_ms)
        self.model.advance(by_ms)

    @invariant()
    def every_id_answers_as_the_model_says(self) -> None:
        for operation in self.model.operations.values():
            assert self.futures.look(operation.id) == self.model.look(operation)
        assert self.futures.look("1") == Gone(Why.FOREIGN)

    @invariant()
    def every_poll_ends_when_there_is_something_to_be_had(self) -> None:
        self.run(asyncio.sleep(0))
        self.run(asyncio.sleep(0))
        for operation, task in list(self.polls):
            assert task.done() is (operation.outcome is not None)
            if task.done():
                self.polls.remove((operation, task))
                assert task.result() in (operation.outcome, self.model.look(operation))
        waiting = [operation.id for operation, _ in self.polls]
        assert self.futures.waiting() == {request_id: waiting.count(request_id) for request_id in waiting}

    @invariant()
    def the_counts_are_those_of_the_model(self) -> None:
        alive = [operation for operation in self.model.operations.values() if operation.fate is None]
        counts = self.futures.counts
        assert counts.in_flight == sum(operation.outcome is None for operation in alive)
        assert counts.delivered == sum(operation.delivered for operation in alive)
        assert counts.undelivered == len(alive) - counts.in_flight - counts.delivered
        assert counts.sessions == sum(map(self.model.lives, self.model.sessions))
        assert counts.keys == sum(
            self.model.lives(self.model.session_of(operation.sampling).id)
            for operation in self.model.operations.values()
        )

    def leave_all_polls(self) -> None:
        for _, task in self.polls:
            task.cancel()
        self.polls.clear()
        self.run(asyncio.sleep(0))

    def teardown(self) -> None:
        self.leave_all_polls()
        self.run(self.futures.shut_down(lambda _: ENDED))
        self.loop.close()


class JournaledStoreMachine(StoreMachine):
    """A store with a journal in SQLite, which crashes and is opened again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.lives = 0
        super().__init__()

    def journal(self) -> Journal:
        return SqliteJournal(str(self.folder / f"{self.lives}.db"))

    @rule()
    def crash(self) -> None:
        """What lies on the disk when all that was written so far is durable is what a new store starts from."""
        self.begin_session()
        crash_image(self.folder / f"{self.lives}.db", self.folder / f"{self.lives + 1}.db")
        self.leave_all_polls()
        self.run(self.futures.shut_down(lambda _: ENDED))
        self.lives += 1
        self.futures = self.opened()
        self.model.restart()

    @rule()
    def restart(self) -> None:
        """What was pending has the outcome that it was given at the end."""
        self.leave_all_polls()
        self.run(self.futures.shut_down(lambda _: ENDED))
        self.futures = self.opened()
        for operation in self.model.operations.values():
            self.model.land(operation, ENDED)
        self.model.restart()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


def test_a_store_answers_as_its_model_does() -> None:
    """Whatever is done to it in whatever order, in memory."""
    run_state_machine_as_test(StoreMachine, settings=_settings(60))


def test_a_store_with_a_journal_answers_as_its_model_does_over_crashes() -> None:
    """Nothing accepted is forgotten, no outcome changes, and what was in flight is said to be lost."""
    run_state_machine_as_test(JournaledStoreMachine, settings=_settings(12))


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
