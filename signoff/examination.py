"""An examination: every chosen item lived through by one subject, judged, and where needed lived through again.

What was found stays found: results are added as they come, so that an examination that is broken off can still
be reported, marked as partial.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from faults.plan import Plan
from signoff.items import Item
from suites.accounts import accounts_of
from suites.checks.vacuity import CHECK as VACUITY_CHECK
from suites.driver import Driver
from suites.findings import Finding, Proof, Verdict
from suites.judge import Judgement, confirm, held_against, judge, judgement_of
from suites.lanes import run_plans
from suites.lives import doubted, is_doubtful, live, stalled
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.shrink import shrink
from suites.subject import SubjectSpec

CONFIRMED_TOGETHER = 4  # each may be a process that takes a second to start
MAX_UNPROVED = 40  # a subject on which more proves nothing proves nothing a second time
MAX_SHRUNK = 3  # drawn plans that fail are cut down one by one; more of the same kind teach nothing

VACUITY = VACUITY_CHECK.name

OnRun = Callable[[Item, int, Run], None]  # the item, which of its runs (from 1), and the run

_Record = Callable[[Item, Run], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest plan on which all that a drawn plan broke is broken too, and the run that shows it."""

    plan: Plan
    run: Run
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One item, the run that stands for it, and what was judged of it.

    varies: it only tells, and told otherwise when it was repeated. smallest: for a drawn plan that failed.
    """

    item: Item
    run: Run
    judgement: Judgement
    varies: bool = False
    smallest: Smallest | None = None

    @property
    def shown(self) -> "Result | Smallest":
        """What a person is shown of it: the smallest plan where there is one."""
        return self.smallest or self


@dataclass(slots=True, kw_only=True)
class Examination:
    """The results so far, by item id, and every run that they may rest on."""

    spec: SubjectSpec
    items: tuple[Item, ...]
    results: dict[str, Result] = field(default_factory=dict)
    lived: dict[str, list[Run]] = field(default_factory=dict)

    def in_order(self) -> list[Result]:
        """The results, in the order of the items."""
        return [self.results[item.id] for item in self.items if item.id in self.results]

    def number_of(self, result: Result) -> int:
        """Which of the item's runs stands for it, from 1; 0 where none was made."""
        return next((n for n, run in enumerate(self.lived[result.item.id], 1) if run is result.run), 0)


async def examine(
    examination: Examination, driver: Driver, machine: Machine, on_run: OnRun, *, jobs: int | None = None
) -> None:
    """Live through all items; `on_run` hears of each run that a result may rest on, as soon as it is over, and once,
    with an empty run, of an item that cannot be reached. jobs: how many runs go on side by side (None: as suits).

    Raises SubjectError when the subject cannot be started.
    """

    def record(item: Item, run: Run) -> None:
        lived = examination.lived.setdefault(item.id, [])
        lived.append(run)
        on_run(item, len(lived), run)

    await _live_through(examination, driver, machine, record, jobs)
    await _confirm_all(examination, driver, record, jobs)
    _add_twins(examination)
    await _shrink_drawn(examination, driver, machine, record)


async def _live_through(
    examination: Examination, driver: Driver, machine: Machine, record: _Record, jobs: int | None
) -> None:
    reachable: list[Item] = []
    for item in examination.items:
        reason = unreachable(item.plan, examination.spec, machine)
        if reason is None:
            reachable += [item] * item.times
            continue
        run = Run(
            plan=item.plan, subject=examination.spec.facts, operations=(), ledger=(), history=(), unreachable=reason
        )
        record(item, run)
        examination.results[item.id] = Result(item=item, run=run, judgement=judge(run))

    def add(place: int, run: Run) -> None:
        item = reachable[place]
        record(item, run)
        repeated = examination.lived[item.id]
        if len(repeated) == item.times:
            examination.results[item.id] = _joined(item, repeated)

    await run_plans(driver, [item.plan for item in reachable], add, lanes=jobs)


def _joined(item: Item, runs: list[Run]) -> Result:
    """The worst of the repetitions stands for all of them."""
    judged = [(run, judge(run)) for run in runs]
    run, judgement = max(judged, key=lambda pair: pair[1].verdict or Verdict.PASS)
    return Result(item=item, run=run, judgement=judgement, varies=len({_told(run) for run in runs}) > 1)


def _told(run: Run) -> tuple[tuple[int, str, int | None], ...]:
    """How a run went that only tells: sendings, outcome and status of each operation."""
    accounts = {account.operation: len(account.attempts) for account in accounts_of(run).planned}
    return tuple(
        (accounts[outcome.operation], outcome.kind, outcome.status)
        for outcome in run.history
        if outcome.operation in accounts
    )


async def _confirm_all(examination: Examination, driver: Driver, record: _Record, jobs: int | None) -> None:
    """What company may have caused is lived through again alone, a few at a time. So is what proved nothing: one
    more chance to prove something can turn no FAIL into a PASS.
    """
    doubtful = [result for result in examination.in_order() if _needs_confirming(result)]
    unproved = [result for result in examination.in_order() if _may_prove_more(result)]
    doubtful += unproved[:MAX_UNPROVED]
    places = asyncio.Semaphore(min(CONFIRMED_TOGETHER, jobs or CONFIRMED_TOGETHER))

    async def confirmed(result: Result) -> None:
        async with places:
            run, alone = await live(driver, result.run.plan, partial(record, result.item))
        examination.results[result.item.id] = _after(result, run, alone)

    await asyncio.gather(*map(confirmed, doubtful))


def _needs_confirming(result: Result) -> bool:
    """A death must come back alone, and so must what fails by cause or timing in company, or while the machine
    stalled.
    """
    judgement = result.judgement
    if judgement.verdict is Verdict.UNKNOWN:
        return False
    if result.run.died is not None or is_doubtful(result.run, judgement):
        return True
    if result.item.cell is not None and stalled(result.run):
        return True  # it will be held against its twin
    return result.run.company and any(finding.proof is Proof.CAUSE for finding in judgement.failures)


def _may_prove_more(result: Result) -> bool:
    """It proved nothing since the machine stalled, since it was in company, or since a fault was not met. A subject
    that hung, or a check that crashed, gets no second chance.
    """
    judgement, run = result.judgement, result.run
    if judgement.verdict is not Verdict.UNKNOWN:
        return False
    only_vacuous = run.settled and all(finding.check == VACUITY for finding in judgement.unknowns)
    return stalled(run) or run.company or only_vacuous


def _after(result: Result, run: Run, alone: Judgement) -> Result:
    """What became of it alone. A run that proved nothing, or that came by its failure while the machine stalled, is
    replaced, whatever its replacement shows; to any other, what it broke alone is added.
    """
    if result.judgement.verdict is not Verdict.FAIL or is_doubtful(result.run, result.judgement):
        return replace(result, run=run, judgement=alone)
    confirmed = tuple(confirm(finding, alone) for finding in result.judgement.findings)
    known = {finding.check for finding in confirmed if finding.verdict is Verdict.FAIL}
    more = tuple(
        replace(finding, says=f"alone: {finding.says}", entries=())
        for finding in alone.failures
        if finding.check not in known
    )
    return replace(result, judgement=judgement_of((*confirmed, *more)))


def _add_twins(examination: Examination) -> None:
    """Same evidence, same decision: each cell is held against its twin's."""
    for result in examination.in_order():
        cell = result.item.cell
        twin = examination.results.get(cell.twin) if cell is not None and cell.twin is not None else None
        if twin is None or result.judgement.not_run or twin.judgement.not_run:
            continue
        found: Iterable[Finding] = held_against(result.run, twin.run)
        if stalled(result.run) or stalled(twin.run):
            found = doubted(found, max(result.run.stalled_ms, twin.run.stalled_ms))
        judgement = judgement_of((*result.judgement.findings, *found))
        examination.results[result.item.id] = replace(result, judgement=judgement)


async def _shrink_drawn(examination: Examination, driver: Driver, machine: Machine, record: _Record) -> None:
    """The first drawn plans that fail are cut down to what all of the failure needs. What was judged of the drawn
    plan itself stays: a sign-off compares the same plans.
    """
    failed = [r for r in examination.in_order() if r.item.cell is None and r.judgement.verdict is Verdict.FAIL]
    for result in failed[:MAX_SHRUNK]:
        checks = failed_checks(result.judgement)

        async def fails(plan: Plan, checks: frozenset[str] = checks) -> bool:
            if unreachable(plan, examination.spec, machine) is not None:
                return False
            _, judgement = await live(driver, plan)
            return checks <= failed_checks(judgement)

        plan = await shrink(result.item.plan, fails)
        if plan == result.item.plan:
            continue
        run, judgement = await live(driver, plan, partial(record, result.item))
        if checks <= failed_checks(judgement):
            smallest = Smallest(plan=plan, run=run, judgement=judgement)
            examination.results[result.item.id] = replace(result, smallest=smallest)


def failed_checks(judgement: Judgement) -> frozenset[str]:
    """The musts that are broken."""
    return frozenset(finding.check for finding in judgement.failures)
