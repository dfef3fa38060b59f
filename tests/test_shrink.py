"""A failing plan is cut down to the parts that the failure needs."""

from hypothesis import given

from faults.plan import Plan, PlannedOperation
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


@given(plans(SPEC, Machine(packets=True)))
def test_every_simpler_plan_is_a_plan_and_another_one(plan: Plan) -> None:
    """Candidates are valid by construction (an invalid one cannot be built) and never the plan itself."""
    assert plan not in list(simpler(plan))
