"""Plans drawn ahead of their execution, so that many can run side by side: the same seed, the same plans."""

from hypothesis import HealthCheck, Phase, given, seed, settings

from faults.plan import Plan
from suites.reach import Machine
from suites.strategies import plans
from suites.subject import SubjectSpec


def drawn_plans(spec: SubjectSpec, machine: Machine, *, examples: int, seed_number: int) -> tuple[Plan, ...]:
    """Exactly `examples` plans from that seed, all different where the strategy has so many."""
    if not examples:
        return ()
    drawn: list[Plan] = []
    seen: set[Plan] = set()

    @seed(seed_number)
    @settings(
        max_examples=examples * 2,  # some draws repeat a plan in other clothes
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans(spec, machine))
    def collect(plan: Plan) -> None:
        if plan not in seen and len(drawn) < examples:
            seen.add(plan)
            drawn.append(plan)

    collect()
    return tuple(drawn)
