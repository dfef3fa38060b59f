"""Plans drawn ahead of their execution, so that many can run side by side: the same seed, the same plans."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from faults.coverage import Depth
from faults.plan import MAX_OVERLAYS, Plan
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
    toxics: bool = False,
) -> tuple[Plan, ...]:
    """Exactly `examples` plans from that seed that every one of these subjects can reach, all different, where there
    are so many: around each fault as many as around any other, as far as it has them. The order of the subjects does
    not matter: a sign-off draws once for both sides.

    under: what Toxiproxy lays over each. It changes no plan that can be reached under it; others take the places of
    those that cannot. toxics: plans draw some of their own, and some that are faults (`suites/strategies.py`).
    """
    drawing = _Drawing(specs, Drawable(joint(specs), machine, depth, toxics), seed_number)
    with _wherever_it_is_installed():
        plans = drawing.more(examples)
        reached = [drawing.laid(plan, under) for plan in plans]
        while None in reached and (others := drawing.more(reached.count(None))):
            laid = filter(None, (drawing.laid(plan, under) for plan in others))
            reached = [next(laid, None) if plan is None else plan for plan in reached]
    return tuple(filter(None, reached))


class _Provider(HypothesisProvider):
    """Hypothesis's own, but that it draws no constants: it takes them from the source of every module that is imported
    and not installed, so that one seed would give other plans in a working copy, and beside a subject in Python.
    """

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


@contextmanager
def _wherever_it_is_installed() -> Iterator[None]:
    """The same seed gives the same plans."""
    with patch.dict(AVAILABLE_PROVIDERS, hypothesis=f"{__name__}.{_Provider.__name__}"):
        yield


class _Drawing:
    """Plans from one seed, batch after batch, none of them twice."""

    def __init__(self, specs: Sequence[SubjectSpec], drawable: Drawable, seed_number: int) -> None:
        self._specs = specs
        self._drawable = drawable
        self._chance = random.Random(seed_number)
        self._names = list(drawable.names)
        self._drawn: dict[Plan, None] = {}

    def more(self, count: int) -> list[Plan]:
        """So many more; fewer where there are no more."""
        before = len(self._drawn)
        while self._names and (missing := before + count - len(self._drawn)):
            self._chance.shuffle(self._names)
            for name, share in Counter(islice(cycle(self._names), missing)).items():
                self._draw_around(name, share)
        plans = list(self._drawn)[before:]
        self._chance.shuffle(plans)  # those of one fault are not lived through side by side
        return plans

    def laid(self, plan: Plan, under: tuple[Overlay, ...]) -> Plan | None:
        """That plan under these too; None where it cannot be reached so."""
        places = {overlay.place for overlay in under}
        own = (overlay for overlay in plan.under if overlay.place not in places)
        plan = replace(plan, under=(*under, *own)[:MAX_OVERLAYS])
        return plan if self._reach(plan) else None

    def _draw_around(self, name: str, share: int) -> None:
        before = len(self._drawn)
        for _ in range(_TRIES):
            missing = before + share - len(self._drawn)
            found = _drawn_around(self._drawable, name, missing, self._chance.getrandbits(64)) if missing else ()
            reached = (plan for plan in found if plan not in self._drawn and self._reach(plan))
            self._drawn.update(dict.fromkeys(islice(reached, missing)))
        if len(self._drawn) == before:
            self._names.remove(name)  # it has no more: the others get its share

    def _reach(self, plan: Plan) -> bool:
        return all(unreachable(plan, spec, self._drawable.machine) is None for spec in self._specs)


def _drawn_around(drawable: Drawable, name: str, share: int, seed_number: int) -> list[Plan]:
    """Some more than that share, each once. The first of all is the simplest, and so no more than a cell is."""
    drawn: dict[Plan, None] = {}

    @seed(seed_number)
    @settings(
        max_examples=share + share // 2 + 1,  # some draws repeat a plan in other clothes, or are out of reach
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
    facts = SubjectFacts(name="joint", promises=Promise.TRANSPARENT, called=any(spec.facts.called for spec in specs))
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
