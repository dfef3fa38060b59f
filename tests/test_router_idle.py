"""Connections that lie idle: ended by the router, or held by a listener's fault as new ones are."""

from collections.abc import Iterator

import pytest

from fake_router.entries import Closed, EndedBy, Executed, Opened, Received, Striking, Struck, Unserved, Witness
from faults.acts import EndIdle, HeldAct, LeaveUnread, needs_expectation
from faults.catalogue import CATALOGUE
from faults.fault import Fault
from faults.sight import sight_of
from faults.truth import truth_of
from faults.vocabulary import Ending, Sight
from tests.router_client import GIVES_UP_MS, LONG_MS, READ_TIMEOUT_MS, Client, Stage, dial, faulty, one, staged, work

HELD = [f for f in CATALOGUE.values() if isinstance(f.act, HeldAct) and not needs_expectation(f.act)]
IDLE = [fault for fault in CATALOGUE.values() if isinstance(fault.act, EndIdle)]
OPERATION = 7


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def _patience_ms(fault: Fault) -> int:
    if isinstance(fault.act, LeaveUnread) and fault.act.serve_after is not None:
        return READ_TIMEOUT_MS
    return GIVES_UP_MS if sight_of(fault.act) is Sight.SILENCE else LONG_MS


@pytest.mark.parametrize("fault", HELD, ids=lambda fault: fault.id)
def test_a_fault_holds_a_connection_that_lay_idle_as_it_holds_a_new_one(stage: Stage, fault: Fault) -> None:
    """The same sight and the same truth, on the connection that had carried another request."""
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        before = len(stage.entries())
        stage.arm(faulty(fault.id, reused=True), first=OPERATION)
        assert client.ask(work(OPERATION), within_ms=_patience_ms(fault)).sight is sight_of(fault.act)
    assert stage.idle()
    stage.heal()
    stage.drain()
    entries = stage.entries()[before:]
    assert not [entry for entry in entries if isinstance(entry, Opened)]
    (striking,) = [entry for entry in entries if isinstance(entry, Striking)]
    (struck,) = [entry for entry in entries if isinstance(entry, Struck)]
    assert (striking.connection, striking.operation) == (1, OPERATION)
    assert (struck.striking, struck.witness) == (striking.seq, Witness.ACT)
    assert any(isinstance(entry, Executed) for entry in entries) is truth_of(fault.act).executed
    assert [entry.nth for entry in entries if isinstance(entry, Received)] == [2] * truth_of(fault.act).received
    assert stage.router.connections() == 0


@pytest.mark.parametrize("fault", IDLE, ids=lambda fault: fault.id)
def test_an_idle_connection_is_ended_when_the_plan_is_armed(stage: Stage, fault: Fault) -> None:
    """The strike is the ending itself; a new connection is healthy, also before healing."""
    assert isinstance(fault.act, EndIdle)
    by_reset = fault.act.ending is Ending.RESET
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        before = len(stage.entries())
        stage.arm(faulty(fault.id, reused=True), first=OPERATION)
        assert stage.thread.run(stage.router.ending) == (0 if by_reset else 1)
        if fault.act.status is not None:
            pushed = client.see()
            assert (pushed.sight, pushed.status) == (Sight.STATUS, fault.act.status)
        assert client.ends_by() is (Sight.RESET if by_reset else Sight.FIN)
    assert dial(stage.port, work(OPERATION)).sight is Sight.WHOLE
    striking, closed, struck, *rest = stage.entries()[before + 1 :]
    assert isinstance(striking, Striking)
    assert (striking.fault, striking.connection, striking.operation) == (fault.id, 1, OPERATION)
    assert isinstance(closed, Closed)
    assert closed.by is (EndedBy.ROUTER_RESET if by_reset else EndedBy.ROUTER_FIN)
    assert isinstance(struck, Struck)
    assert struck.striking == striking.seq
    assert [entry.nth for entry in rest if isinstance(entry, Received)] == [1]
    assert stage.thread.run(stage.router.ending) == 0


def test_a_peer_that_has_not_noticed_sends_into_nothing(stage: Stage) -> None:
    """Its request is in the ledger, and is never executed."""
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        stage.arm(faulty("idle-fin", reused=True), first=OPERATION)
        client.send(work(OPERATION))
        (lost,) = stage.until(Unserved, 1)
    assert (lost.connection, lost.operation) == (1, OPERATION)
    assert len(stage.of(Executed)) == 1


@pytest.mark.parametrize("fault", ["idle-fin", "unread-reset"])
def test_a_connection_with_a_request_under_way_does_not_lie_idle(stage: Stage, fault: str) -> None:
    with Client(stage.port) as client:
        stage.arm(one(gate="held"), first=1)
        client.send(work(1))
        stage.until(Received, 1)
        stage.arm(faulty(fault, reused=True), first=OPERATION)
        stage.thread.run(stage.router.open_gate, "held")
        assert client.see().sight is Sight.WHOLE
        assert client.ask(work(OPERATION)).sight is Sight.WHOLE
    assert stage.of(Striking) == []


def test_idle_connections_are_left_alone_by_a_plan_that_does_not_ask_for_reused_ones(stage: Stage) -> None:
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        stage.arm(faulty("unread-reset"), first=OPERATION)
        assert client.ask(work(OPERATION)).sight is Sight.WHOLE
    assert dial(stage.port, work(OPERATION)).sight is Sight.RESET


def test_as_many_idle_connections_are_held_as_the_plan_says(stage: Stage) -> None:
    with Client(stage.port) as first, Client(stage.port) as second:
        for client in (first, second):
            assert client.ask(work(1)).sight is Sight.WHOLE
        stage.arm(faulty("unread-reset", connections=1, reused=True), first=OPERATION)
        assert sorted(client.ask(work(OPERATION)).sight for client in (first, second)) == [Sight.RESET, Sight.WHOLE]
    assert dial(stage.port, work(OPERATION)).sight is Sight.WHOLE


def test_what_is_held_and_gets_no_request_is_not_struck(stage: Stage) -> None:
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        stage.arm(faulty("unread-never", reused=True), first=OPERATION)
        stage.heal()
        stage.drain()
        assert client.ends_by() is Sight.FIN
    assert stage.of(Striking) == []
