"""The injector: an exchange meets the fault that its place in the plan says, and consumes it by meeting it."""

import pytest

from fake_router.injector import HEALTHY_STEP, Injector
from faults.acts import HEALTHY
from faults.catalogue import CATALOGUE
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation


def _armed(plan: Plan, *, first: int = 10, upstreams: int = 2) -> Injector:
    injector = Injector(upstreams)
    injector.arm(plan, first_operation=first, read_timeout_ms=100)
    return injector


def test_the_kth_fault_is_for_the_kth_exchange_and_after_the_last_all_is_healthy() -> None:
    injector = _armed(Plan(operations=(PlannedOperation(faults=("reset-before", "healthy", "503-after")),)))
    steps = [injector.take(10) for _ in range(5)]
    assert [step.fault for step in steps] == ["reset-before", "healthy", "503-after", None, None]
    assert [step.act for step in steps[1:4]] == [HEALTHY, CATALOGUE["503-after"].act, HEALTHY]
    assert steps[0].read_timeout_s == 0.1


def test_operations_consume_their_own_faults_in_any_order() -> None:
    plan = Plan(operations=(PlannedOperation(faults=("reset-before",)), PlannedOperation(faults=("fin-after",))))
    injector = _armed(plan)
    assert [injector.take(number).fault for number in (11, 10, 10, 11)] == ["fin-after", "reset-before", None, None]


def test_what_no_plan_names_is_healthy() -> None:
    injector = _armed(Plan(operations=(PlannedOperation(faults=("reset-before",)),)))
    assert injector.take(9) is injector.take(11) is HEALTHY_STEP


def test_plans_are_told_apart_by_their_operations() -> None:
    injector = _armed(Plan(operations=(PlannedOperation(faults=("reset-before",)),)))
    second = Plan(operations=(PlannedOperation(faults=("fin-before",)), PlannedOperation()))
    injector.arm(second, first_operation=11, read_timeout_ms=200)
    assert injector.take(11).fault == "fin-before"
    assert injector.take(10).fault == "reset-before"


def test_a_number_that_is_armed_already_is_refused_with_nothing_armed() -> None:
    injector = _armed(Plan(operations=(PlannedOperation(),) * 2))
    again = Plan(operations=(PlannedOperation(faults=("reset-before",)),) * 2)
    with pytest.raises(PlanError, match="operation 11 is armed already"):
        injector.arm(again, first_operation=11, read_timeout_ms=1)
    assert injector.take(12) is HEALTHY_STEP


def test_a_gate_holds_the_first_exchange_alone() -> None:
    injector = _armed(Plan(operations=(PlannedOperation(gate="later"),)))
    assert [injector.take(10).gate for _ in range(2)] == [(0, "later"), None]


def test_receipt_opens_the_gate_of_the_same_plan_once() -> None:
    plan = Plan(operations=(PlannedOperation(), PlannedOperation(gate="received:0")))
    injector = _armed(plan)
    injector.arm(plan, first_operation=20, read_timeout_ms=100)
    assert [injector.take(10).opens for _ in range(2)] == [(1, "received:0"), None]
    assert injector.take(11).gate == (1, "received:0")
    assert injector.take(21).gate == injector.take(20).opens == (2, "received:0")
    assert injector.take(21).opens is None


def test_a_receipt_that_nobody_waits_for_opens_nothing() -> None:
    assert _armed(Plan(operations=(PlannedOperation(),))).take(10).opens is None


def test_a_listener_strikes_so_many_connections_and_then_none() -> None:
    listener = PlannedListener(fault="accept-reset", upstream=1, connections=2)
    injector = _armed(Plan(operations=(PlannedOperation(),), listeners=(listener,), upstreams=2))
    steps = [injector.take_connection(1) for _ in range(3)]
    assert [step and (step.fault, step.operation) for step in steps] == [("accept-reset", 10)] * 2 + [None]
    assert injector.take_connection(0) is None


def test_a_listener_of_no_upstream_means_every_one() -> None:
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="unread-never"),), upstreams=2)
    injector = _armed(plan)
    assert all(injector.take_connection(upstream) for upstream in (0, 1, 0, 1))


def test_arming_tells_which_listeners_are_faulty_and_whether_idle_connections_are() -> None:
    for reused in (False, True):
        operation = PlannedOperation(reused=reused)
        plan = Plan(operations=(operation,), listeners=(PlannedListener(fault="unread-never", connections=1),))
        injector = Injector(1)
        (step,) = injector.arm(plan, first_operation=1, read_timeout_ms=1)
        assert (step.upstream, step.fault, step.reused) == (0, "unread-never", reused)
        assert injector.take_idle(0) == (step if reused else None)
        assert injector.take_connection(0) == (None if reused else step)  # idle ones count too


@pytest.mark.parametrize(
    ("fault", "new", "idle"),
    [
        ("connect-refused", False, False),
        ("queue-never", False, False),
        ("idle-fin", False, True),
        ("unread-fin", True, True),
    ],
)
def test_a_fault_meets_new_connections_or_those_that_lie_idle_or_both(fault: str, new: bool, idle: bool) -> None:
    listener = PlannedListener(fault=fault)
    plan = Plan(operations=(PlannedOperation(reused=idle),), listeners=(listener,))
    injector = _armed(plan)
    assert (injector.take_idle(0) is not None) is idle
    assert (injector.take_connection(0) is not None) is new


@pytest.mark.parametrize(
    ("first", "timeout_ms", "upstream", "says"),
    [
        (0, 1, 0, "first_operation is 0; expected 1 or more"),
        (1, 0, 0, "read_timeout_ms is 0; expected 1 or more"),
        (1, 1, 1, "upstreams is 2; expected no more than this router plays: 1"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(first: int, timeout_ms: int, upstream: int, says: str) -> None:
    listener = PlannedListener(fault="unread-never", upstream=upstream)
    plan = Plan(operations=(PlannedOperation(),), listeners=(listener,), upstreams=2)
    with pytest.raises(PlanError, match=says):
        Injector(1).arm(plan, first_operation=first, read_timeout_ms=timeout_ms)


def test_one_upstream_has_one_fault_over_all_plans() -> None:
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="unread-never", upstream=0),))
    injector = _armed(plan)
    with pytest.raises(PlanError, match="upstream 0 is faulty already"):
        injector.arm(plan, first_operation=20, read_timeout_ms=1)


def test_disarming_ends_everything() -> None:
    plan = Plan(
        operations=(PlannedOperation(faults=("reset-before",)),),
        listeners=(PlannedListener(fault="unread-never", upstream=0),),
    )
    injector = _armed(plan)
    injector.disarm()
    assert injector.take(10) is HEALTHY_STEP
    assert injector.take_connection(0) is None
