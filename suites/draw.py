"""Plans drawn ahead of their execution, so that many can run side by side: the same seed, the same plans."""

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, seed, settings

from faults.plan import Plan
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.strategies import plans
from suites.subject import SubjectSpec, spoken_by_all


def drawn_plans(specs: Sequence[SubjectSpec], machine: Machine, *, examples: int, seed_number: int) -> tuple[Plan, ...]:
    """Exactly `examples` plans from that seed that every one of these subjects can reach, all different, where the
    strategy has so many. The order of the subjects does not matter: a sign-off draws once for both sides.
    """
    if not examples:
        return ()
    drawn: dict[Plan, None] = {}

    @seed(seed_number)
    @settings(
        max_examples=examples * 3,  # some draws repeat a plan in other clothes, or are out of reach
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans(joint(specs), machine))
    def collect(plan: Plan) -> None:
        if len(drawn) < examples and all(unreachable(plan, spec, machine) is None for spec in specs):
            drawn.setdefault(plan)

    collect()
    return tuple(drawn)


def joint(specs: Sequence[SubjectSpec]) -> SubjectSpec:
    """What plans for all of these subjects may ask for."""
    facts = SubjectFacts(
        name="joint", promises=Promise.TRANSPARENT, in_process=any(spec.facts.in_process for spec in specs)
    )
    reach = {name: why for spec in specs for name, why in spec.reach.items()}
    return SubjectSpec(
        facts=facts,
        apis=spoken_by_all(specs) or specs[0].apis,
        upstreams=min(spec.upstreams for spec in specs),
        reach=reach,
        tls=all(spec.tls for spec in specs),
        identity=next((spec.identity for spec in specs if spec.identity is not None), None),
        names=all(spec.names for spec in specs),
        pool=all(spec.pool for spec in specs),
        passes_expect=all(spec.passes_expect for spec in specs),
    )
