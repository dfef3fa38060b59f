"""What is measured of each side of a sign-off beside its cells, on both the same; nothing of it is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from faults.coverage import Depth
from faults.mix import Mix
from faults.plan import Plan
from signoff.examination import Through
from signoff.items import Choice
from signoff.loads import AT_ONCE, LARGE, Alone, Load, loaded_with, loads_up_to
from signoff.mix import default_mix
from signoff.report import Loaded, Worked
from signoff.results import Examination
from signoff.work import plans_of, worked
from suites.driver import Driver
from suites.reach import Machine
from suites.subject import SubjectSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Loads, and plans drawn from a mix of faults (None: no work is measured). unmeasured: its faults that cannot
    strike, each with the reason.
    """

    loads: tuple[Load, ...] = ()
    mix: Mix | None = None
    plans: tuple[Plan, ...] = ()
    unmeasured: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of it."""

    loads: tuple[Loaded, ...] = ()
    work: Worked | None = None


NOTHING_MEASURED = Measured()


def measures_of(choice: Choice, specs: Sequence[SubjectSpec], machine: Machine, mix: Mix | None) -> Measures:
    """All of it where every cell is lived through; under --depth core the small loads alone. Where cells are chosen,
    or are lived through behind toxics, nothing. A mix that was asked for is measured always.
    """
    some = choice.only is not None or choice.toxiproxy
    core = choice.depth is Depth.CORE
    mix = default_mix() if mix is None and not some and not core else mix
    plans, unmeasured = ([], {}) if mix is None else plans_of(mix, specs, machine, choice.seed)
    most = max(n for n in AT_ONCE if n < LARGE) if core else LARGE
    return Measures(loads=() if some else loads_up_to(most), mix=mix, plans=tuple(plans), unmeasured=unmeasured)


async def measure_work(measures: Measures, examination: Examination, through: Through) -> Worked | None:
    """Work lost and doubled. The run that stands for a cell counts for every draw of its plan."""
    if measures.mix is None:
        return None
    known = [result.run for result in examination.in_order()]
    return await worked(through, measures.plans, measures.mix, measures.unmeasured, known)


async def measure_loads(
    measures: Measures, driver: Driver, machine: Machine, tick: Callable[[], None], alone: Alone
) -> tuple[Loaded, ...]:
    """The large ones each alone on this machine, inside `alone`. `tick` hears of each."""
    return await loaded_with(measures.loads, driver, machine, tick, alone)
