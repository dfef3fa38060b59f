"""Gates, several plans at once, healing and draining, and the count of open work."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_router.entries import Accepted, Closed, EndedBy, Executed, Marked, Received, Striking, Struck, Unserved
from faults.plan import Plan, PlanError, PlannedOperation
from faults.vocabulary import Sight
from tests.router_client import GIVES_UP_MS, Client, Stage, dial, faulty, one, staged, work


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(upstreams=2) as stage:
        yield stage


def test_a_gate_holds_an_operation_until_it_is_opened_by_name(stage: Stage) -> None:
    stage.arm(one("503-after", gate="later"))
    with Client(stage.port) as client:
        client.send(work(1))
        stage.until(Received, 1)
        assert not stage.of(Accepted)
        assert not stage.of(Striking)
        assert stage.router.busy() == 1
        stage.thread.run(stage.router.open_gate, "later")
        assert client.see().status == 503
        assert client.ask(work(1)).sight is Sight.WHOLE, "only the first exchange is held"
    assert [entry.mark for entry in stage.of(Marked)] == ["armed", "gate later"]


def test_a_gate_that_was_opened_before_holds_nothing(stage: Stage) -> None:
    stage.thread.run(stage.router.open_gate, "later")
    stage.arm(one(gate="later"))
    assert dial(stage.port, work(1)).sight is Sight.WHOLE


def test_the_receipt_of_one_operation_opens_the_gate_of_another(stage: Stage) -> None:
    """In the ledger: both received, then the gate, then the one that waited, then the other."""
    stage.arm(Plan(operations=(PlannedOperation(gate="received:1"), PlannedOperation())), first=5)
    with Client(stage.port) as waits:
        waits.send(work(5))
        stage.until(Received, 1)
        assert stage.of(Accepted) == []
        assert dial(stage.port, work(6)).sight is Sight.WHOLE
        assert waits.see().sight is Sight.WHOLE
    exchanges = {entry.exchange: entry.operation for entry in stage.of(Received)}
    assert [exchanges[entry.exchange] for entry in stage.of(Executed)] == [5, 6]
    assert "gate received:1" in [entry.mark for entry in stage.of(Marked)]


def test_plans_armed_together_strike_their_own_operations_and_open_their_own_gates(stage: Stage) -> None:
    plans = [Plan(operations=(PlannedOperation(gate="received:1"), PlannedOperation(faults=(f,)))) for f in _FAULTS]
    for place, plan in enumerate(plans):
        stage.arm(plan, first=10 * (place + 1))
    numbers = [10 * (place + 1) + index for place in range(len(plans)) for index in (1, 0)]
    with ThreadPoolExecutor(len(numbers)) as pool:
        seen = dict(zip(numbers, pool.map(lambda n: dial(stage.port, work(n)), numbers), strict=True))
    assert [seen[10 * (place + 1)].sight for place in range(len(plans))] == [Sight.WHOLE] * 3
    assert [seen[10 * (place + 1) + 1].sight for place in range(len(plans))] == [Sight.RESET, Sight.FIN, Sight.STATUS]
    strikes = {entry.operation: entry.fault for entry in stage.of(Striking)}
    assert strikes == {11: _FAULTS[0], 21: _FAULTS[1], 31: _FAULTS[2]}


_FAULTS = ("reset-after", "fin-before", "503-before")


def test_a_peer_that_leaves_a_gate_ends_its_exchange_unaccepted(stage: Stage) -> None:
    stage.arm(one("reset-after", gate="later"))
    with Client(stage.port) as client:
        client.send(work(1))
        stage.until(Received, 1)
    assert stage.idle()
    stage.thread.run(stage.router.open_gate, "later")
    assert not stage.of(Accepted)
    assert not stage.of(Striking)


def test_healing_opens_gates_ends_silence_and_lets_faults_strike_no_more(stage: Stage) -> None:
    plan = Plan(operations=(PlannedOperation(faults=("silence-after", "503-after")), PlannedOperation(gate="never")))
    stage.arm(plan)
    with Client(stage.port) as silent, Client(stage.port) as gated:
        silent.send(work(1))
        gated.send(work(2))
        stage.until(Received, 2)
        assert stage.router.busy() == 2
        stage.heal()
        assert silent.ends_by() is Sight.FIN
        assert gated.see().sight is Sight.WHOLE
    assert stage.idle()
    assert dial(stage.port, work(1)).sight is Sight.WHOLE
    assert EndedBy.ROUTER_FIN in [entry.by for entry in stage.of(Closed)]
    assert [entry.mark for entry in stage.of(Marked)] == ["armed", "healed"]


def test_what_a_plan_had_not_used_is_gone_after_healing_and_its_numbers_are_free(stage: Stage) -> None:
    stage.arm(one("503-after"))
    with pytest.raises(PlanError, match="operation 1 is armed already"):
        stage.arm(one())
    stage.heal()
    stage.arm(one("fin-after"))
    assert dial(stage.port, work(1)).sight is Sight.FIN


def test_silence_is_open_work_while_its_peer_stays(stage: Stage) -> None:
    stage.arm(one("silence-before"))
    with Client(stage.port) as client:
        assert client.ask(work(1), within_ms=GIVES_UP_MS).sight is Sight.SILENCE
        assert not stage.thread.run(stage.router.wait_idle, 0.01)
        assert stage.router.busy() == 1
    assert stage.idle()
    assert stage.router.busy() == 0


def test_draining_ends_silence_and_records_what_lay_unread(stage: Stage) -> None:
    stage.arm(faulty("unread-never", upstream=1, upstreams=2), first=3)
    stage.arm(one("silence-after"), first=4)
    with Client(stage.router.ports[1]) as unread, Client(stage.port) as silent:
        unread.send(work(3) + work(3)[:10])
        silent.send(work(4))
        stage.until(Received, 1)
        stage.until(Struck, 2)
        assert stage.router.busy() == 1
        stage.drain()
        assert unread.ends_by() is Sight.FIN
        assert silent.ends_by() is Sight.FIN
    (lost,) = stage.of(Unserved)
    assert (lost.operation, lost.upstream, lost.request_bytes) == (3, 1, len(work(3)) + 10)
    assert stage.of(Marked)[-1].mark == "settled"


def test_a_ghost_executes_after_its_client_has_gone(stage: Stage) -> None:
    """A request that lay unread is served late, although everybody gave up on it."""
    stage.arm(faulty("unread-late", upstream=0, upstreams=2))
    with Client(stage.port) as client:
        client.send(work(1))
        stage.until(Struck, 1)
        assert stage.router.busy() == 1
    assert stage.of(Received) == []
    stage.heal()
    stage.drain()
    assert stage.idle()
    (received,) = stage.of(Received)
    assert received.operation == 1
    assert len(stage.of(Executed)) == 1
    assert stage.of(Unserved) == []
    healed = next(entry.seq for entry in stage.of(Marked) if entry.mark == "healed")
    assert received.seq > healed
