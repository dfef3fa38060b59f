"""An examination: every chosen item lived through by one subject, judged, and where needed lived through again.

What was found stays found: results are added as they come, so that an examination that is broken off can still
be reported, marked as partial.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from faults.plan import Plan
from signoff.items import Item
from signoff.results import Examination, Result
from signoff.shrinking import shrink_drawn
from suites.accounts import accounts_of
from suites.driver import Driver
from suites.findings import Finding, Proof, Verdict
from suites.judge import Judgement, confirm, held_against, judge, judgement_of, not_shown
from suites.lanes import run_plans
from suites.lives import doubted, is_doubtful, live, met_nothing, stalled
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.subject import SubjectSpec

CONFIRMED_TOGETHER = 4  # each may be a process that takes a second to start
MAX_UNPROVED = 40  # a subject on which more proves nothing proves nothing a second time

OnRun = Callable[[Item, int, Run], None]  # the item, which of its runs (from 1), and the run

OnLost = Callable[[int, str], None]  # the place of a plan that could not be lived through, and why
Through = Callable[[Sequence[Plan], Callable[[int, Run], None], OnLost], Awaitable[None]]  # lives through all plans

_Record = Callable[[Item, Run], None]


async def examine(
    examination: Examination,
    driver: Driver,
    machine: Machine,
    on_run: OnRun,
    through: Through | None = None,
    *,
    lanes: int | None = None,
) -> None:
    """Live through all items; `on_run` hears of each run that a result may rest on, as soon as it is over, and once,
    with an empty run, of an item that cannot be reached. lanes: how many runs go on side by side (None: as suits).
    through: what lives through them once (None: this driver); what needs to be alone is its own affair.

    Raises SubjectError when the subject cannot be started.
    """

    def record(item: Item, run: Run) -> None:
        lived = examination.lived.setdefault(item.id, [])
        lived.append(run)
        on_run(item, len(lived), run)

    await _live_through(examination, machine, record, through or in_lanes(driver, lanes))
    await _confirm_all(examination, driver, record, lanes)
    _add_twins(examination)
    await shrink_drawn(examination, driver, machine, record, lanes=lanes)


def in_lanes(driver: Driver, lanes: int | None) -> Through:
    """In this process."""

    async def through(plans: Sequence[Plan], on_run: Callable[[int, Run], None], _: OnLost) -> None:
        await run_plans(driver, plans, on_run, lanes=lanes)

    return through


async def _live_through(examination: Examination, machine: Machine, record: _Record, through: Through) -> None:
    reachable: list[Item] = []
    for item in examination.items:
        reason = unreachable(item.plan, examination.spec, machine)
        if reason is None:
            reachable += [item] * item.times
            continue
        run = _not_lived(item, examination.spec, reason)
        record(item, run)
        examination.results[item.id] = Result(item=item, run=run, judgement=judge(run))

    def add(place: int, run: Run) -> None:
        item = reachable[place]
        record(item, run)
        repeated = examination.lived[item.id]
        if len(repeated) == item.times:
            examination.results[item.id] = _joined(item, repeated)

    def lose(place: int, reason: str) -> None:
        item = reachable[place]
        run = _not_lived(item, examination.spec, reason)
        record(item, run)
        examination.results[item.id] = Result(item=item, run=run, judgement=not_shown(reason))

    await through([item.plan for item in reachable], add, lose)


def _not_lived(item: Item, spec: SubjectSpec, reason: str) -> Run:
    return Run(plan=item.plan, subject=spec.facts, operations=(), ledger=(), history=(), unreachable=reason)


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


async def _confirm_all(examination: Examination, driver: Driver, record: _Record, lanes: int | None) -> None:
    """What company may have caused is lived through again alone, a few at a time, and what fails there by cause or
    timing for the first time once more. So is what proved nothing: one more chance to prove something can turn no
    FAIL into a PASS.
    """
    doubtful = [result for result in examination.in_order() if _needs_confirming(result)]
    unproved = [result for result in examination.in_order() if _may_prove_more(result)]
    doubtful += unproved[:MAX_UNPROVED]
    places = asyncio.Semaphore(min(CONFIRMED_TOGETHER, lanes or CONFIRMED_TOGETHER))

    async def confirmed(result: Result) -> None:
        async with places:
            after = await _once_more(result, driver, record)
            if after.run is not result.run and _fails_by_cause(after.judgement):
                after = await _once_more(after, driver, record)
        examination.results[result.item.id] = after

    await asyncio.gather(*map(confirmed, doubtful))


async def _once_more(result: Result, driver: Driver, record: _Record) -> Result:
    run, alone = await live(driver, result.run.plan, partial(record, result.item))
    return _after(result, run, alone)


def _needs_confirming(result: Result) -> bool:
    """A death must come back alone, and so must what fails by cause or timing: whoever else kept this machine busy, a
    process that is not ours included, may have made the difference.
    """
    judgement = result.judgement
    if judgement.verdict is Verdict.UNKNOWN:
        return False
    if result.run.died is not None or is_doubtful(result.run, judgement):
        return True
    if result.item.cell is not None and stalled(result.run):
        return True  # it will be held against its twin
    return _fails_by_cause(judgement)


def _fails_by_cause(judgement: Judgement) -> bool:
    return any(finding.proof is Proof.CAUSE for finding in judgement.failures)


def _may_prove_more(result: Result) -> bool:
    """It proved nothing since the machine stalled, since it was in company, or since a fault was not met. A subject
    that hung, or a check that crashed, gets no second chance.
    """
    judgement, run = result.judgement, result.run
    if judgement.verdict is not Verdict.UNKNOWN:
        return False
    return stalled(run) or run.company or met_nothing(run, judgement)


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
