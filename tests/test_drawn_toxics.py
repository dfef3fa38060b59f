"""Toxics are a dimension that plans draw where that is asked for, and nowhere else."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from faults.acts import DropSyn
from faults.catalogue import CATALOGUE, POISONS
from faults.coverage import Depth
from faults.evidence import REFERENCE_CONTRACT
from faults.plan import Plan, PlanError, PlannedOperation
from faults.poison import Poison
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Hop, Overlay
from suites.draw import drawn_plans
from suites.drawable import Drawable
from suites.drawn_sendings import REFUSED, on_either_sending
from suites.drawn_toxics import overlays
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.strategies import plans_around
from suites.subject import SubjectSpec

MACHINE = Machine(packets=True, toxiproxy=True)
DIRECT = Machine(packets=True)
DRAWN = settings(max_examples=200, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


HTML = next(id_ for id_, fault in CATALOGUE.items() if fault.evidence.status == 200 and "HTML" in fault.says)
AFTER = next(id_ for id_, fault in CATALOGUE.items() if fault.truth.executed and fault.evidence.status == 502)
DROPPED = next(id_ for id_, fault in CATALOGUE.items() if isinstance(fault.act, DropSyn))


def _spec(*, in_process: bool = False, contract: bool = True) -> SubjectSpec:
    """One that can meet few faults of the catalogue: what is shown here does not depend on their number."""
    facts = SubjectFacts(name="any", promises=Promise.TRANSPARENT, called=in_process)
    facts = replace(facts, contract=REFERENCE_CONTRACT) if contract else facts
    spec = SubjectSpec(facts=facts, upstreams=2)
    names = Drawable(spec, DIRECT, Depth.DEEP).names
    reach = {name: "not wanted" for name in names if name not in (HTML, AFTER, DROPPED, REFUSED)}
    return replace(spec, reach=reach)


def test_plans_are_drawn_around_every_toxic_that_is_a_fault() -> None:
    """Also around `down`."""
    plans = drawn_plans([_spec()], MACHINE, examples=40, seed_number=1, toxics=True)
    drawn = Counter(fault for plan in plans for fault in plan.faults)
    assert [fault for fault in POISONS if not drawn[fault]] == []


def test_a_fault_is_drawn_under_several_toxics_under_one_and_under_none() -> None:
    """Whatever the plan around it is."""
    counts: set[int] = set()

    @DRAWN
    @given(plans_around(Drawable(_spec(), MACHINE, toxics=True), HTML))
    def collect(plan: Plan) -> None:
        assert HTML in plan.faults
        counts.add(len(plan.under))

    collect()
    assert counts == {0, 1, 2}


@pytest.mark.parametrize("in_process", [True, False])
def test_every_toxic_that_is_no_fault_is_drawn_with_its_parameters(in_process: bool) -> None:
    """In both directions, and over both hops, unless whoever is called in process has no connection from its caller."""
    drawn: set[Overlay] = set()

    @settings(DRAWN, max_examples=400)
    @given(overlays(_spec(in_process=in_process)))
    def collect(laid: tuple[Overlay, ...]) -> None:
        drawn.update(laid)

    collect()
    kinds, hops = (Latency, Bandwidth, Slicer), [Hop.ROUTER] if in_process else list(Hop)
    assert {one.place for one in drawn} == {(kind, way, hop) for kind in kinds for way in Direction for hop in hops}
    latencies = [one.toxic for one in drawn if isinstance(one.toxic, Latency)]
    assert {bool(one.jitter_ms) for one in latencies} == {True, False}
    assert max(one.latency_ms + one.jitter_ms for one in latencies) <= 60
    assert {bool(one.toxic.delay_us) for one in drawn if isinstance(one.toxic, Slicer)} == {True, False}


def test_a_toxiproxy_that_is_there_draws_no_toxic_by_itself() -> None:
    """`--under` brings one: the same plans are drawn as without, and what lies over them changes none of them."""
    spec = _spec()
    direct = drawn_plans([spec], DIRECT, examples=60, seed_number=2)
    assert drawn_plans([spec], MACHINE, examples=60, seed_number=2) == direct
    under = (Overlay(toxic=Latency(latency_ms=20)),)
    laid = drawn_plans([spec], MACHINE, examples=60, seed_number=2, under=under)
    assert len(set(laid)) == 60
    for plan, there in zip(direct, laid, strict=True):
        wanted = replace(plan, under=under)
        assert there.under == under
        assert unreachable(there, spec, MACHINE) is None
        assert there == wanted or unreachable(wanted, spec, MACHINE) is not None
    assert any(plan != replace(there, under=()) for plan, there in zip(direct, laid, strict=True))


def test_what_lies_over_all_plans_lies_over_those_with_toxics_of_their_own_too() -> None:
    """In the place of one of the same kind over the same bytes: Toxiproxy has room for one."""
    under = (Overlay(toxic=Latency(latency_ms=7)),)
    plans = drawn_plans([_spec()], MACHINE, examples=30, seed_number=3, under=under, toxics=True)
    assert all(plan.under[:1] == under for plan in plans)
    assert any(len(plan.under) > 1 for plan in plans)


def test_two_toxics_of_a_kind_over_the_same_bytes_are_no_plan() -> None:
    """In opposite directions, or on two hops, they are."""
    one = Overlay(toxic=Latency(latency_ms=5))
    operations = (PlannedOperation(),)
    with pytest.raises(PlanError, match=r"latency_ms=9.*expected each once"):
        Plan(operations=operations, under=(Overlay(toxic=Latency(latency_ms=9)), one))
    Plan(operations=operations, under=(one, replace(one, hop=Hop.CALLER)))
    Plan(operations=operations, under=(one, Overlay(toxic=Latency(latency_ms=5, direction=Direction.UPSTREAM))))


def test_toxics_are_drawn_only_where_there_is_a_toxiproxy() -> None:
    """Else nothing could set them."""
    with pytest.raises(ValueError, match=r"toxiproxy=False.*expected one with toxiproxy true"):
        Drawable(_spec(), DIRECT, toxics=True)


def test_without_packets_nobody_sees_that_nobody_listens() -> None:
    """Then no plan is drawn around it."""
    names = Drawable(_spec(), Machine(packets=False, toxiproxy=True), toxics=True).names
    unseen = {id_ for id_ in POISONS if id_ not in names}
    dials = {id_ for id_, fault in POISONS.items() if isinstance(fault.act, Poison) and fault.act.strikes_dials}
    assert unseen == dials != set()


@pytest.mark.parametrize("contract", [True, False])
def test_a_fault_is_met_on_the_first_sending_or_on_the_second(contract: bool) -> None:
    """The second comes after a refusal that a contract names; whoever has none sends once."""
    spec = _spec(contract=contract)
    met_first: set[bool] = set()

    @DRAWN
    @given(on_either_sending(plans_around(Drawable(spec, DIRECT), AFTER), AFTER, spec))
    def collect(plan: Plan) -> None:
        assert unreachable(plan, spec, DIRECT) is None
        first = any(operation.faults[:1] == (AFTER,) for operation in plan.operations)
        assert first or any(operation.faults[:2] == (REFUSED, AFTER) for operation in plan.operations)
        met_first.add(first)

    collect()
    assert met_first == ({True, False} if contract else {True})
