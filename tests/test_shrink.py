"""A failing plan is cut down to the parts that the failure needs."""

from collections.abc import Callable

import pytest
from hypothesis import given

from faults.plan import Plan, PlannedOperation
from faults.toxics import Bandwidth, Latency, Slicer
from faults.under import Hop, Overlay, OverlayToxic
from suites.reach import Machine
from suites.run import Promise, SubjectFacts
from suites.shrink import shrink, simpler
from suites.strategies import plans
from suites.subject import SubjectSpec

SPEC = SubjectSpec(facts=SubjectFacts(name="any", promises=Promise.TRANSPARENT), upstreams=2)


async def test_what_the_failure_does_not_need_is_left_out() -> None:
    """Of three operations only the one with the fault remains, and of its parts only the fault."""
    plan = Plan(
        operations=(
            PlannedOperation(faults=("html-200",)),
            PlannedOperation(faults=("healthy", "500-after"), segments=2, gate="received:0", reused=True),
            PlannedOperation(wave=1, gate="received:1"),
        )
    )

    async def fails(candidate: Plan) -> bool:
        return any("500-after" in operation.faults for operation in candidate.operations)

    assert await shrink(plan, fails) == Plan(operations=(PlannedOperation(faults=("500-after",)),))


async def test_a_plan_that_needs_all_its_parts_stays_as_it_is() -> None:
    """Nothing smaller fails, so nothing changes."""
    plan = Plan(operations=(PlannedOperation(faults=("500-after",), reused=True),))

    async def fails(candidate: Plan) -> bool:
        return candidate == plan

    assert await shrink(plan, fails) == plan


@given(plans(SPEC, Machine(packets=True, toxiproxy=True), toxics=True))
def test_every_simpler_plan_is_a_plan_and_another_one(plan: Plan) -> None:
    """Candidates are valid by construction (an invalid one cannot be built) and never the plan itself."""
    assert plan not in list(simpler(plan))


LATENCY = Overlay(toxic=Latency(latency_ms=37, jitter_ms=8))
NARROW = Overlay(toxic=Bandwidth(rate_kbytes_s=300))
SLICES = Overlay(toxic=Slicer(average_bytes=20, variation_bytes=5, delay_us=9), hop=Hop.CALLER)


def _least(kind: type[OverlayToxic], what: str, least: int, most: int = 2**40) -> Callable[[Plan], bool]:
    """It takes a toxic of that kind, at least, or at most, so strong."""

    def needs(plan: Plan) -> bool:
        return any(least <= getattr(one.toxic, what) <= most for one in plan.under if isinstance(one.toxic, kind))

    return needs


@pytest.mark.parametrize(
    ("needs", "left"),
    [
        (lambda plan: True, ()),
        (_least(Latency, "latency_ms", 1), (Latency(latency_ms=1),)),
        (_least(Latency, "latency_ms", 5), (Latency(latency_ms=9),)),
        (_least(Latency, "jitter_ms", 2), (Latency(latency_ms=2, jitter_ms=2),)),
        (_least(Bandwidth, "rate_kbytes_s", 1), (Bandwidth(rate_kbytes_s=100_000),)),
        (_least(Bandwidth, "rate_kbytes_s", 1, 1_000), (Bandwidth(rate_kbytes_s=600),)),
        (_least(Slicer, "average_bytes", 1, 100), (Slicer(average_bytes=80),)),
        (_least(Slicer, "delay_us", 1), (Slicer(average_bytes=4096, delay_us=9),)),
    ],
)
async def test_a_toxic_that_the_failure_does_not_need_is_left_out_and_others_are_as_weak_as_they_can_be(
    needs: Callable[[Plan], bool], left: tuple[OverlayToxic, ...]
) -> None:
    """First without it, then under a weaker one; the hop on which it lies stays as it is."""
    plan = Plan(operations=(PlannedOperation(),), under=(LATENCY, NARROW, SLICES))

    async def fails(candidate: Plan) -> bool:
        return needs(candidate)

    smallest = await shrink(plan, fails)
    assert tuple(overlay.toxic for overlay in smallest.under) == left
    assert {one.place for one in smallest.under} <= {one.place for one in plan.under}


@pytest.mark.parametrize(
    "toxic",
    [Latency(latency_ms=0), Latency(latency_ms=1), Bandwidth(rate_kbytes_s=100_001), Slicer(average_bytes=5_000)],
)
def test_a_toxic_that_is_as_weak_as_it_can_be_is_only_left_out(toxic: OverlayToxic) -> None:
    """None takes its place, and it is not made stronger."""
    plan = Plan(operations=(PlannedOperation(),), under=(Overlay(toxic=toxic),))
    assert [smaller.under for smaller in simpler(plan)] == [()]
