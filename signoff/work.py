"""Work lost and doubled under a mix of faults: counted over operations that each meet one fault drawn from it."""

import random
from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256
from math import sqrt

from faults.mix import Mix
from faults.plan import Plan
from faults.plan_json import dump_plan
from signoff.examination import Through
from signoff.report import Worked
from signoff.sign_off import Interval, Work, WorkSide
from suites.accounts import accounts_of
from suites.cells import Cell, all_cells
from suites.history import Kind
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.subject import SubjectSpec

DRAWN = 200  # operations of a side
_Z = 1.96  # of a normal distribution, for 95 %


def plans_of(mix: Mix, specs: Sequence[SubjectSpec], machine: Machine, seed: int) -> tuple[list[Plan], dict[str, str]]:
    """So many plans of one operation, each with a fault drawn from the mix: the first of its cells that all of these
    subjects can reach. And the faults that have none, each with the reason; the others are drawn in their place.
    """
    plans: dict[str, Plan] = {}
    unmeasured: dict[str, str] = {}
    cells = all_cells()
    for fault in mix.faults:
        found = _reachable([cell for cell in cells if cell.fault.id == fault], specs, machine)
        if isinstance(found, Plan):
            plans[fault] = found
        else:
            unmeasured[fault] = found
    if not plans:
        return [], unmeasured
    weights = [mix.faults[fault] for fault in plans]
    drawn = random.Random(seed).choices(list(plans.values()), weights, k=DRAWN)
    return drawn, unmeasured


def _reachable(cells: Sequence[Cell], specs: Sequence[SubjectSpec], machine: Machine) -> Plan | str:
    reasons = []
    for cell in cells:
        reason = next(filter(None, (unreachable(cell.plan, spec, machine) for spec in specs)), None)
        if reason is None and len(cell.plan.operations) == 1 and cell.leaves is None:
            return cell.plan
        reasons.append(reason or "no cell of one operation whose caller stays")
    return reasons[0] if reasons else "it has no cell"


async def worked(
    through: Through, plans: Sequence[Plan], mix: Mix, unmeasured: dict[str, str], known: Sequence[Run] = ()
) -> Worked:
    """Count over these plans; nothing is judged. known: runs that there are already; a plan that has none of them is
    lived through once, however often it was drawn; one that nobody could live through is unmeasured. Raises
    SubjectError.
    """
    runs = {run.plan: run for run in known if run.unreachable is None}
    rest = [plan for plan in dict.fromkeys(plans) if plan not in runs]
    lost: dict[str, str] = {}

    def add(place: int, run: Run) -> None:
        runs[rest[place]] = run

    def lose(place: int, reason: str) -> None:
        lost[", ".join(rest[place].faults)] = reason

    if rest:
        await through(rest, add, lose)
    counted = [plan for plan in plans if plan in runs]
    drawn = Counter(counted)
    return Worked(
        mix=mix.name,
        origin=mix.origin,
        per_1000=mix.per_1000,
        operations=len(counted),
        lost=sum(lost_in(runs[plan]) for plan in counted),
        doubled=sum(doubled_in(runs[plan]) for plan in counted),
        unmeasured={**unmeasured, **lost},
        runs=len(drawn),
        weight=round(weight_of(drawn.values()), 1),
        drawn=sha256("".join(map(dump_plan, counted)).encode()).hexdigest(),
    )


def weight_of(counts: Collection[int]) -> float:
    """As how many operations, each with a run of its own, those count that were drawn so often from so many runs, at
    the least (Kish 1965, s8.2): a run that counts ten times may have gone so by chance once.
    """
    return sum(counts) ** 2 / sum(count * count for count in counts) if counts else 0.0


def lost_in(run: Run) -> int:
    """Operations whose caller has no result in the end."""
    return sum(outcome.kind is not Kind.OK for outcome in run.history if outcome.operation in run.operations)


def doubled_in(run: Run) -> int:
    """Operations that were executed more than once."""
    return sum(len(account.executions) > 1 for account in accounts_of(run).planned)


def work_of(base: Worked | None, candidate: Worked | None) -> Work | None:
    """Both sides, per 1,000 operations; None where a side was not measured, or on other plans."""
    if base is None or candidate is None or _measured_on(base) != _measured_on(candidate):
        return None
    return Work(mix=base.mix, origin=base.origin, base=_side(base), candidate=_side(candidate))


def _measured_on(side: Worked) -> tuple[object, ...]:
    return side.mix, side.per_1000, side.drawn, side.operations


def _side(side: Worked) -> WorkSide:
    weight = side.weight or side.operations
    return WorkSide(
        operations=side.operations,
        runs=side.runs,
        lost=interval(side.lost, side.operations, side.per_1000, weight),
        doubled=interval(side.doubled, side.operations, side.per_1000, weight),
    )


def interval(count: int, of: int, per_1000: float, weight: float) -> Interval:
    """The rate per 1,000 operations and its 95 % interval, after Wilson (1927): it holds for counts of 0 too. weight:
    as how many operations with a run of their own these count.
    """
    if not of or not weight:
        return Interval(rate=0.0, low=0.0, high=per_1000)
    share, z2 = count / of, _Z * _Z
    middle = (share + z2 / (2 * weight)) / (1 + z2 / weight)
    half = _Z / (1 + z2 / weight) * sqrt(share * (1 - share) / weight + z2 / (4 * weight * weight))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Interval(rate=round(share * per_1000, 2), low=round(low * per_1000, 2), high=round(high * per_1000, 2))
