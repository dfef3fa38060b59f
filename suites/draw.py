"""Plans drawn ahead of their execution, so that many can run side by side: the same seed, the same plans."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

from hypothesis import HealthCheck, Phase, given, seed, settings

from faults.coverage import Depth
from faults.plan import Plan
from faults.under import Overlay
from suites.drawable import Drawable
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.strategies import plans_around
from suites.subject import SubjectSpec, spoken_by_all

_TRIES = 4  # how often more is drawn around a fault of whose draws too many are known


def drawn_plans(
    specs: Sequence[SubjectSpec],
    machine: Machine,
    *,
    examples: int,
    seed_number: int,
    depth: Depth = Depth.FULL,
    under: tuple[Overlay, ...] = (),
) -> tuple[Plan, ...]:
    """Exactly `examples` plans from that seed that every one of these subjects can reach, all different, where there
    are so many: around each fault as many as around any other, as far as it has them. The order of the subjects does
    not matter: a sign-off draws once for both sides. under: what Toxiproxy lays over each.
    """
    drawable = Drawable(joint(specs), machine, depth)
    names = list(drawable.names)
    chance = random.Random(seed_number)
    drawn: dict[Plan, None] = {}
    while names and len(drawn) < examples:
        chance.shuffle(names)
        for name, share in Counter(islice(cycle(names), examples - len(drawn))).items():
            before = len(drawn)
            for _ in range(_TRIES):
                missing = before + share - len(drawn)
                found = _drawn_around(drawable, name, missing, chance.getrandbits(64)) if missing else ()
                laid = (replace(plan, under=under) for plan in found)
                reached = (plan for plan in laid if all(unreachable(plan, spec, machine) is None for spec in specs))
                drawn.update(dict.fromkeys(islice((plan for plan in reached if plan not in drawn), missing)))
            if len(drawn) == before:
                names.remove(name)  # it has no more: the others get its share
    plans = list(drawn)
    chance.shuffle(plans)  # those of one fault are not lived through side by side
    return tuple(plans)


def _drawn_around(drawable: Drawable, name: str, share: int, seed_number: int) -> list[Plan]:
    """Some more than that share, each once. The first of all is the simplest, and so no more than a cell is."""
    drawn: dict[Plan, None] = {}

    @seed(seed_number)
    @settings(
        max_examples=share + share // 2 + 2,  # some draws repeat a plan in other clothes, or are out of reach
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans_around(drawable, name))
    def collect(plan: Plan) -> None:
        drawn.setdefault(plan)

    collect()
    return list(drawn)[1:] or list(drawn)


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
