"""An examination: every chosen item lived through by one subject, judged, and where needed lived through again.

What was found stays found: results are added as they come, so that an examination that is broken off can still
be reported, marked as partial.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from faults.plan import Plan
from signoff.confirming import Confirming
from signoff.items import Item
from signoff.results import Examination, Result
from signoff.shrinking import shrink_drawn
from signoff.twins import add_twins
from suites.accounts import accounts_of
from suites.checks.tells import CHECK as TELLS
from suites.driver import Driver
from suites.findings import Finding, Verdict
from suites.in_turns import in_turns
from suites.judge import judge, judgement_of, not_shown
from suites.lanes import run_plans
from suites.lives import AT_A_TIME, Alone, met_nothing
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.subject import Isolation, SubjectSpec
from suites.together import together

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
    through: what lives through them once, in other processes (None: this driver); what needs to be alone is lived
    through here.

    Raises SubjectError when the subject cannot be started.
    """

    def record(item: Item, run: Run) -> None:
        lived = examination.lived.setdefault(item.id, [])
        lived.append(run)
        on_run(item, len(lived), run)

    alone = Alone(driver=driver, places=asyncio.Semaphore(min(lanes or AT_A_TIME, AT_A_TIME)))
    drawn = [item for item in examination.items if item.cell is None]
    cells = [item for item in examination.items if item.cell is not None]
    confirming = Confirming(examination, alone, record), Confirming(examination, alone, record)
    coming = _Coming(confirming, missing={item.id for item in drawn})

    async def live(items: Iterable[Item], on_result: Callable[[Result], None]) -> None:
        await _live_through(
            examination, machine, record, through or in_lanes(driver, lanes), items=items, on_result=on_result
        )

    async def confirm_drawn() -> None:
        await confirming[0].as_they_come()
        async with in_turns(driver) as lives:
            quick = Alone(driver=lives, places=alone.places)
            await shrink_drawn(examination, alone, quick, machine, record)

    async def live_through_all() -> None:
        await live([*drawn, *cells], coming.add)
        confirming[1].no_more()

    if through is None or examination.spec.isolation is Isolation.SHARED:
        await live(examination.items, lambda _: None)  # those of one way share an instance
        for result in examination.in_order():
            coming.add(result)
        confirming[1].no_more()
        await together((confirm_drawn(), confirming[1].as_they_come()))
    else:  # drawn ones first: to cut one down takes long, one run after the other
        await together((live_through_all(), confirm_drawn(), confirming[1].as_they_come()))
        await together(some.once_more() for some in confirming)
    for some in confirming:
        await some.what_is_open()
    await confirming[-1].what_its_twin_doubts()
    add_twins(examination)


class _Coming:
    """Results on their way to those who confirm drawn plans and cells. missing: drawn ones that have not come."""

    def __init__(self, confirming: tuple[Confirming, Confirming], missing: set[str]) -> None:
        self._drawn, self._cells = confirming
        self._missing = missing
        if not missing:
            self._drawn.no_more()

    def add(self, result: Result) -> None:
        """It is there."""
        if result.item.cell is not None:
            self._cells.add(result)
            return
        self._drawn.add(result)
        self._missing.remove(result.item.id)
        if not self._missing:
            self._drawn.no_more()


def in_lanes(driver: Driver, lanes: int | None) -> Through:
    """In this process."""

    async def through(plans: Sequence[Plan], on_run: Callable[[int, Run], None], _: OnLost) -> None:
        await run_plans(driver, plans, on_run, lanes=lanes)

    return through


async def _live_through(
    examination: Examination,
    machine: Machine,
    record: _Record,
    through: Through,
    *,
    items: Iterable[Item],
    on_result: Callable[[Result], None],
) -> None:
    reachable: list[Item] = []

    def found(result: Result) -> None:
        examination.results[result.item.id] = result
        on_result(result)

    for item in items:
        reason = unreachable(item.plan, examination.spec, machine)
        if reason is None:
            reachable += [item] * item.times
            continue
        run = _not_lived(item, examination.spec, reason)
        record(item, run)
        found(Result(item=item, run=run, judgement=judge(run)))

    def add(place: int, run: Run) -> None:
        item = reachable[place]
        record(item, run)
        repeated = examination.lived[item.id]
        if len(repeated) == item.times:
            found(_joined(item, repeated))

    def lose(place: int, reason: str) -> None:
        item = reachable[place]
        run = _not_lived(item, examination.spec, reason)
        record(item, run)
        if item.id not in examination.results:  # one that is repeated is lost once
            found(Result(item=item, run=run, judgement=not_shown(reason)))

    await through([item.plan for item in reachable], add, lose)


def _not_lived(item: Item, spec: SubjectSpec, reason: str) -> Run:
    return Run(plan=item.plan, subject=spec.facts, operations=(), ledger=(), history=(), unreachable=reason)


def _joined(item: Item, runs: list[Run]) -> Result:
    """The worst of the repetitions stands for all of them; where they differ, each way is told. One that met no fault,
    since the subject chose another upstream, says nothing of it beside one that did.
    """
    judged = [(run, judge(run)) for run in runs]
    met = [pair for pair in judged if not met_nothing(*pair)] or judged
    run, judgement = max(met, key=lambda pair: pair[1].verdict or Verdict.PASS)
    ways = {_told(run) for run, _ in met}
    if len(ways) > 1 and not judgement.not_run:
        judgement = judgement_of((*judgement.findings, _varying(ways)))
    return Result(item=item, run=run, judgement=judgement, varies=len(ways) > 1)


_Way = tuple[tuple[int, str, int | None], ...]


def _varying(ways: Iterable[_Way]) -> Finding:
    worded = sorted("; ".join(map(_in_words, way)) for way in ways)
    says = f"when it was repeated it went in different ways: {', or '.join(worded)}"
    return TELLS.passes(says)


def _in_words(told: tuple[int, str, int | None]) -> str:
    attempts, kind, status = told
    return f"{attempts} sent, {kind}{'' if status is None else f' {status}'}"


def _told(run: Run) -> _Way:
    """How a run went that only tells: sendings, outcome and status of each operation."""
    accounts = {account.operation: len(account.attempts) for account in accounts_of(run).planned}
    return tuple(
        (accounts[outcome.operation], outcome.kind, outcome.status)
        for outcome in run.history
        if outcome.operation in accounts
    )
