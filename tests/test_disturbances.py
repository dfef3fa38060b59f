"""What is done to a container is a fault like any other: catalogued, in cells, at its moment, with its witness."""

import pytest

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from fake_router.poisoning import Poisons
from faults.catalogue import CATALOGUE, DISTURBANCES, fault_named
from faults.disturbance import Disturb, Disturbing, Whose
from faults.fault import Fault
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from faults.poison import Moment
from faults.vocabulary import Class
from suites.cells import disturbance_cells
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.stacks.state import State, is_disturbed
from suites.subject import SubjectSpec
from suites.way import way_of

DISTURBED = pytest.mark.parametrize("fault", DISTURBANCES.values(), ids=DISTURBANCES)
BEFORE = State(status="running", running=True, started_at="1", addresses=("172.0.0.2",))


@DISTURBED
def test_an_ambiguous_one_has_a_twin_with_the_same_evidence_and_the_opposite_truth(fault: Fault) -> None:
    """One that is SAFE needs none, and says so."""
    if fault.class_under() is Class.SAFE:
        assert (fault.twin, fault.truth.executed, bool(fault.no_twin)) == (None, False, True)
        return
    assert fault.twin is not None
    twin = fault_named(fault.twin)
    assert twin.evidence == fault.evidence
    assert twin.truth.executed is not fault.truth.executed


def test_each_is_one_cell_before_every_upstream() -> None:
    """In the order in which they are catalogued; none is in the catalogue of what routers do."""
    cells = disturbance_cells()
    assert [cell.fault.id for cell in cells] == list(DISTURBANCES)
    assert all(cell.id == f"container/{cell.fault.id}/every-upstream" for cell in cells)
    assert {cell.twin for cell in cells if cell.twin} <= {cell.id for cell in cells}
    assert not set(DISTURBANCES) & set(CATALOGUE)


@pytest.mark.parametrize("at", [Moment.IDLE, Moment.BODY])
def test_a_moment_at_which_it_would_strike_nothing_is_refused(at: Moment) -> None:
    """So is a container that is up again before anybody comes."""
    with pytest.raises(ValueError, match="it would strike nothing"):
        Disturb(how=Disturbing.KILL, at=at)
    with pytest.raises(ValueError, match="it would strike nothing"):
        Disturb(how=Disturbing.RESTART, at=Moment.CONNECT)
    with pytest.raises(ValueError, match="it would strike nothing"):
        Disturb(how=Disturbing.KILL, at=Moment.CONNECT, whose=Whose.FORWARDER)


def test_nothing_is_done_to_the_network_of_a_forwarder() -> None:
    """Its callers are there too: nobody could tell what it did."""
    with pytest.raises(ValueError, match="expected what ends its processes, or freezes them"):
        Disturb(how=Disturbing.MOVE, at=Moment.RECEIVED, whose=Whose.FORWARDER)


@pytest.mark.parametrize("how", [how for how in Disturbing if not how.may_strike_worker])
def test_a_worker_s_container_holds_nothing_but_a_relay(how: Disturbing) -> None:
    """There is no program in it that asks for memory, and no iptables."""
    with pytest.raises(ValueError, match="of a worker; expected one of disconnect, kill, move, pause, restart, stop"):
        Disturb(how=how, at=Moment.RECEIVED, whose=Whose.WORKER)


@DISTURBED
def test_workers_stand_in_containers_where_these_are_struck_alone(fault: Fault) -> None:
    """All other faults are met without a relay, which would show them otherwise."""
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault.id),))
    assert isinstance(fault.act, Disturb)
    assert way_of(plan).relayed is (fault.act.whose is Whose.WORKER) is fault.id.startswith("worker-")
    assert not way_of(Plan(operations=(PlannedOperation(),))).relayed


def test_what_is_done_to_workers_shows_what_it_shows_of_a_router() -> None:
    """They are the next behind whoever is asked."""
    of_workers = [fault for fault in DISTURBANCES.values() if fault.id.startswith("worker-")]
    assert len(of_workers) == 16
    for fault in of_workers:
        of_router = fault_named(fault.id.removeprefix("worker-"))
        assert (fault.evidence, fault.truth, fault.class_under()) == (
            *(of_router.evidence, of_router.truth),
            of_router.class_under(),
        )


def test_of_a_router_that_takes_a_while_to_end_nobody_knows_what_its_forwarder_sees() -> None:
    """An end, or its own time-out before that: those cells have no twins. Nor has one who is slow."""
    cells = [cell for cell in disturbance_cells() if not cell.fault.id.startswith("forwarder-")]
    without = {cell.fault.id for cell in cells if cell.fault.class_under() is not Class.SAFE and not cell.twin}
    ids = ("stopped", "out-of-memory", "throttled", "worker-stopped")
    assert without == {f"{name}-{when}" for name in ids for when in ("received", "executed")}


def test_only_of_a_forwarder_that_is_ended_at_once_everybody_knows_what_its_callers_see() -> None:
    """When one thaws, or takes a while to end, its time may be over before: those cells have no twins."""
    cells = {cell.fault.id for cell in disturbance_cells() if cell.fault.id.startswith("forwarder-") and cell.twin}
    ids = ("killed", "restarted", "re-created")
    assert cells == {f"forwarder-{name}-{when}" for name in ids for when in ("received", "executed")}


def test_what_an_engine_cannot_do_is_not_run_with_the_reason() -> None:
    """Podman 4.3 changes no limit of a container that runs."""
    facts = SubjectFacts(name="a stack", promises=Promise.TRANSPARENT)
    spec = SubjectSpec(facts=facts, container=True, network=True, limits=False)
    reasons = {cell.fault.act: unreachable(cell.plan, spec, Machine(packets=True)) for cell in disturbance_cells()}
    lacking = {act for act, why in reasons.items() if why == "its engine changes no limit of a container that runs"}
    assert {act.how for act in lacking if isinstance(act, Disturb)} == {Disturbing.MEMORY, Disturbing.THROTTLE}
    assert all(isinstance(act, Disturb) and (act in lacking) is act.how.needs_limits for act in reasons)


@DISTURBED
def test_no_further_fault_strikes_beside_it(fault: Fault) -> None:
    """The workers behind it are healthy, and it lasts until it is healed."""
    listener = PlannedListener(fault=fault.id)
    assert Plan(operations=(PlannedOperation(),), listeners=(listener,)).disturbs
    with pytest.raises(PlanError, match="the router behind is healthy"):
        Plan(operations=(PlannedOperation(faults=("reset-after",)),), listeners=(listener,))
    with pytest.raises(PlanError, match="expected null: until healed"):
        PlannedListener(fault=fault.id, connections=1)


@pytest.mark.parametrize("open_then", [True, False])
def test_it_strikes_what_was_open_when_it_was_done(open_then: bool) -> None:
    """An exchange that had ended by then met nothing, whatever Docker says; without its word nothing struck."""
    fault = next(id_ for id_, one in DISTURBANCES.items() if isinstance(one.act, Disturb) and one.act.holds)
    ledger, poisons = Ledger(), Poisons()
    act = fault_named(fault).act
    assert isinstance(act, Disturb)
    step = ListenerStep(upstream=0, act=act, fault=fault, operation=7, read_timeout_s=1.0)
    poisons.open_strike(ledger, step, 1, lambda: not open_then, exchange=1, operation=7)
    poisons.setting(0, begun=True)
    assert [type(entry) for entry in ledger.since(0)] == [Striking]
    poisons.disturbed(ledger)
    witnesses = [entry.witness for entry in ledger.since(0) if isinstance(entry, Struck)]
    assert witnesses == [Witness.ENGINE] * open_then


@pytest.mark.parametrize(
    ("how", "now"),
    [
        (Disturbing.PAUSE, State(status="paused", running=True, paused=True, started_at="1")),
        (Disturbing.KILL, State(status="exited", running=False, exit_code=137, started_at="1")),
        (Disturbing.STOP, State(status="exited", running=False, started_at="1")),
        (Disturbing.RESTART, State(status="running", running=True, started_at="2")),
        (Disturbing.MEMORY, State(status="exited", running=False, oom_killed=True, started_at="1")),
        (Disturbing.RECREATE, State(status="running", running=True, id="other", started_at="2")),
        (Disturbing.DISCONNECT, State(status="running", running=True, started_at="1")),
        (Disturbing.MOVE, State(status="running", running=True, started_at="1", addresses=("172.0.0.250",))),
        (Disturbing.LOSE, State(status="running", running=True, started_at="1", drops=True)),
        (Disturbing.RATE, State(status="running", running=True, started_at="1", shaped="tbf")),
        (Disturbing.DELAY, State(status="running", running=True, started_at="1", shaped="netem")),
        (Disturbing.THROTTLE, State(status="running", running=True, started_at="1", throttled=True)),
    ],
)
def test_docker_s_word_is_taken_for_what_it_says(how: Disturbing, now: State) -> None:
    """A container that is as it was has not been struck."""
    assert is_disturbed(how, BEFORE, now)
    assert not is_disturbed(how, BEFORE, BEFORE)


def test_one_that_ended_by_itself_was_not_killed_for_want_of_memory() -> None:
    """And one that was started anew meanwhile was not killed by us."""
    assert not is_disturbed(Disturbing.MEMORY, BEFORE, State(status="exited", running=False, started_at="1"))
    assert not is_disturbed(Disturbing.KILL, BEFORE, State(status="exited", running=False, started_at="2"))
