"""Drawn plans that fail, cut down to the smallest on which they still do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from faults.plan import Plan
from signoff.items import Item
from signoff.results import Examination, Result, Smallest, failed_checks
from suites.findings import Verdict
from suites.lives import Alone
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.shrink import shrink
from suites.together import together

MAX_SHRUNK = 3  # drawn plans that fail are cut down side by side; more of the same kind teach nothing


async def shrink_drawn(
    examination: Examination,
    alone: Alone,
    quick: Alone,
    machine: Machine,
    record: Callable[[Item, Run], None],
) -> None:
    """The first drawn plans that fail are cut down to what all of the failure needs. What was judged of the drawn
    plan itself stays: a sign-off compares the same plans. quick: where it is tried what can be left out; `alone` it
    then has to fail. Raises SubjectError.
    """
    failed = [r for r in examination.in_order() if r.item.cell is None and r.judgement.verdict is Verdict.FAIL]

    async def cut_down(result: Result) -> None:
        checks = failed_checks(result.judgement)

        async def fails(plan: Plan) -> bool:
            if unreachable(plan, examination.spec, machine) is not None:
                return False
            _, judgement = await quick.live(plan)
            return checks <= failed_checks(judgement)

        plan = await shrink(result.item.plan, fails)
        if plan == result.item.plan:
            return
        run, judgement = await alone.live(plan, partial(record, result.item))
        if checks <= failed_checks(judgement):
            smallest = Smallest(plan=plan, run=run, judgement=judgement)
            examination.results[result.item.id] = replace(result, smallest=smallest)

    await together(map(cut_down, failed[:MAX_SHRUNK]))
