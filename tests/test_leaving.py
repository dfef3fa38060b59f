"""Callers that leave: what their peer sees, what becomes of the run, and what is said of it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from fake_router.content import step_text
from fake_router.entries import EndedBy
from fake_router.thread import RouterThread
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from faults.plan_json import dump_plan, load_plan
from faults.vocabulary import Leaving
from suites.caller import call
from suites.driver import Driver
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from suites.judge import judge
from suites.leaving import Leave
from suites.reading import Reply
from suites.reference import reference_subject
from suites.request import Request
from suites.shrink import simpler
from tests.ledgers import OP, SERVER, closed, explain, lost, ok, received, run, said_of, served, steps, striking, struck

SILENT = PlannedOperation(faults=("silence-after",), leaves=Leaving.RESET)
IN_ITS_STREAM = PlannedOperation(faults=("stream-stall",), stream=True, leaves=Leaving.RESET)
BEFORE_THE_WORK = PlannedOperation(leaves=Leaving.FIN, gate="left:0")
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
BODY = b'{"prompt": [1, 2]}'
CEILING_MS = 20_000


@contextlib.asynccontextmanager
async def peer() -> AsyncIterator[socket.socket]:
    """A listening socket."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        yield listener


async def _called(listener: socket.socket, leave: Leave) -> tuple[asyncio.Task[Reply], socket.socket]:
    """A call whose request has been read, and its connection."""
    address = listener.getsockname()
    request = Request(target="/", body=BODY, headers={})
    calling = asyncio.create_task(call(address, request, ceiling_ms=CEILING_MS, leave=leave))
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    connection.setblocking(False)
    received = b""
    while not received.endswith(BODY):
        received += await asyncio.get_running_loop().sock_recv(connection, 65536)
    return calling, connection


@pytest.mark.parametrize("how", [Leaving.FIN, Leaving.RESET])
async def test_a_caller_that_leaves_shows_its_peer_the_end_of_its_connection(how: Leaving) -> None:
    """EOF, or a reset; and it says that it left, though an answer came later."""
    async with peer() as listener:
        leave = Leave(how=how)
        calling, connection = await _called(listener, leave)
        with connection:
            assert not leave.left.is_set()
            leave.told.set()
            reply = await calling
            assert leave.left.is_set()
            assert (reply.arrival, reply.status) == (Arrival.LEFT, None)
            if how is Leaving.RESET:
                with pytest.raises(ConnectionResetError):
                    await asyncio.get_running_loop().sock_recv(connection, 1)
            else:
                assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""


async def test_a_caller_that_half_closes_still_reads_its_answer() -> None:
    """Its peer has seen EOF before it answered."""
    async with peer() as listener:
        leave = Leave(how=Leaving.HALF_CLOSE)
        calling, connection = await _called(listener, leave)
        with connection:
            leave.told.set()
            assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
            assert leave.left.is_set()
            await asyncio.get_running_loop().sock_sendall(connection, ANSWER)
            reply = await calling
    assert (reply.arrival, reply.status, reply.body) == (Arrival.WHOLE, 200, b"{}")


@pytest.mark.parametrize("how", Leaving)
async def test_a_caller_that_is_answered_first_has_not_left(how: Leaving) -> None:
    """Whatever it would have done."""
    async with peer() as listener:
        leave = Leave(how=how)
        calling, connection = await _called(listener, leave)
        with connection:
            await asyncio.get_running_loop().sock_sendall(connection, ANSWER)
            reply = await calling
    leave.told.set()
    assert reply.arrival is Arrival.WHOLE
    assert not leave.left.is_set()


async def test_a_caller_in_the_middle_of_its_answer_leaves_with_what_it_holds() -> None:
    """What has come by then is known, and may be judged."""
    async with peer() as listener:
        leave = Leave(how=Leaving.RESET)
        calling, connection = await _called(listener, leave)
        with connection:
            await asyncio.get_running_loop().sock_sendall(connection, ANSWER[:-1])
            await leave.begun_or(calling, CEILING_MS / 1000)
            leave.told.set()
            reply = await calling
    assert (reply.arrival, reply.status, reply.body) == (Arrival.LEFT, 200, b"{")


@pytest.mark.parametrize("operation", [SILENT, IN_ITS_STREAM, BEFORE_THE_WORK], ids=["during", "stream", "before"])
async def test_the_reference_stops_for_a_caller_that_has_left(operation: PlannedOperation) -> None:
    """It is cancelled, so it ends its exchange; what had not begun never does."""
    with RouterThread() as routers:
        async with Driver(subject=reference_subject(None, "test"), routers=routers) as driver:
            lived = await driver.run(Plan(operations=(operation,)))
    judgement = judge(lived)
    assert judgement.verdict is Verdict.PASS, judgement.findings
    (outcome, *_) = lived.history
    assert (outcome.arrival, outcome.kind, outcome.left) == (Arrival.LEFT, Kind.UNKNOWN, True)
    (told,) = [finding.says for finding in judgement.findings if finding.check == "caller-left"]
    assert "ended its exchange" in told
    assert ("before the work began" in told) is (operation is BEFORE_THE_WORK)


LEFT = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.LEFT, left=True)
SILENCE = steps([received(1), *served(1, 1)[1:3], striking("silence-after", exchange=1), struck(4)])
STOPPED = (closed(1, EndedBy.PEER),)


def _plan(operation: PlannedOperation = SILENT) -> Plan:
    return Plan(operations=(operation,))


def test_an_operation_that_is_sent_again_behind_a_caller_that_left_fails() -> None:
    """Nobody waits for it, and it may run twice."""
    verdict, said = said_of(run(_plan(), [*SILENCE, *STOPPED, *served(2, 2, of=2)], LEFT))
    assert (verdict, said) == (Verdict.FAIL, {"at-most-once": Verdict.FAIL, "safe-retry": Verdict.FAIL})


def test_an_operation_whose_caller_did_not_leave_proves_nothing() -> None:
    """It was answered first."""
    verdict, said = said_of(run(_plan(), SILENCE, lost()))
    assert (verdict, said) == (Verdict.UNKNOWN, {"vacuity": Verdict.UNKNOWN})


def test_an_answer_is_not_owed_to_a_caller_that_has_left() -> None:
    """Also to one that only half-closed, and got nothing."""
    nothing = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.NOTHING, left=True)
    plan = _plan(replace(SILENT, leaves=Leaving.HALF_CLOSE))
    finished = run(plan, [*SILENCE, *STOPPED], nothing, subject=SERVER)
    assert said_of(finished) == (Verdict.PASS, {}), explain(finished)
    stayed = run(plan, [*SILENCE, *STOPPED], replace(nothing, left=False), subject=SERVER)
    assert said_of(stayed)[1]["answered"] is Verdict.FAIL


def test_work_that_was_held_need_not_run_when_the_subject_stopped() -> None:
    """But when its caller stayed, or the subject did, it must."""
    stopped = run(_plan(BEFORE_THE_WORK), [received(1), *STOPPED], LEFT)
    assert said_of(stopped) == (Verdict.PASS, {}), explain(stopped)
    waits = run(_plan(BEFORE_THE_WORK), [received(1)], LEFT)
    assert said_of(waits)[1] == {"vacuity": Verdict.UNKNOWN}
    went_on = run(_plan(BEFORE_THE_WORK), served(1, 1), replace(ok(), left=True))
    assert said_of(went_on) == (Verdict.PASS, {}), explain(went_on)


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ((PlannedOperation(leaves=Leaving.FIN),), "its answer may come first"),
        ((PlannedOperation(faults=("reset-after",), leaves=Leaving.FIN),), "its answer may come first"),
        ((PlannedOperation(gate="left:0"),), "and `leaves` beside it"),
        ((PlannedOperation(), replace(BEFORE_THE_WORK, gate="left:0")), "expected 'left:1'"),
    ],
)
def test_a_plan_in_which_nobody_can_leave_in_time_is_refused(
    operations: tuple[PlannedOperation, ...], message: str
) -> None:
    """The message says what would do."""
    with pytest.raises(PlanError, match=message):
        Plan(operations=operations)


def test_a_caller_does_not_leave_beside_a_faulty_listener() -> None:
    """Its request may never be received."""
    with pytest.raises(PlanError, match="beside a listener's fault"):
        Plan(operations=(SILENT,), listeners=(PlannedListener(fault="unread-never"),))


def test_leaving_survives_json_and_is_refused_by_value() -> None:
    """The plan that is read is the one that was written."""
    plan = Plan(operations=(SILENT, replace(BEFORE_THE_WORK, gate="left:1")))
    assert load_plan(dump_plan(plan)) == plan
    with pytest.raises(PlanError, match=r"operations\[0\].leaves is 'angrily'"):
        load_plan(dump_plan(plan).replace('"reset"', '"angrily"'))


def test_an_operation_that_is_left_out_takes_no_gate_of_another_with_it() -> None:
    """The gate of a caller that leaves is renumbered."""
    plan = Plan(operations=(PlannedOperation(), replace(BEFORE_THE_WORK, gate="left:1")))
    assert Plan(operations=(BEFORE_THE_WORK,)) in list(simpler(plan))


async def test_what_came_of_a_lost_stream_is_in_the_outcome_of_a_call_in_process() -> None:
    """The reference gives its events out as they come: the events before the loss were used."""
    operation = PlannedOperation(faults=("stream-event-fin",), stream=True)
    with RouterThread() as routers:
        async with Driver(subject=reference_subject(None, "test"), routers=routers) as driver:
            lived = await driver.run(Plan(operations=(operation,)))
    (outcome, *_) = lived.history
    assert (outcome.kind, outcome.text) == (
        Kind.UNKNOWN,
        "".join(step_text(outcome.operation, 1, 0, s) for s in range(3)),
    )
    altered = replace(lived, history=(replace(outcome, text="?"), *lived.history[1:]))
    assert (judge(lived).verdict, judge(altered).verdict) == (Verdict.PASS, Verdict.FAIL)
