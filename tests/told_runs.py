"""An examination whose runs are told: by a driver that answers with literal ones."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, cast

from faults.plan import Plan
from signoff.examination import OnLost, examine
from signoff.items import Item
from signoff.results import Examination
from suites.cells import Cell
from suites.driver import Driver
from suites.reach import Machine
from suites.reference import reference_subject
from suites.run import Run
from tests.ledgers import accepted, executed, opened, received, replied, replying, run, striking, struck

SPEC = reference_subject(None, "").spec


class Tells(Protocol):
    """In the place of a driver."""

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """The next run of that plan."""


def answered_503(plan: Plan, fault: str, *, worked: bool) -> Run:
    """One exchange that this fault answered with a 503, once its work had been done or before that."""
    work = [accepted(1), executed(1, 1)] if worked else []
    did = [opened(1), received(1), *work, striking(fault, exchange=1)]
    return run(plan, [*did, replying(1, 503), replied(1), struck(len(did))], subject=SPEC.facts)


def examined(driver: Tells, cells: Iterable[Cell]) -> Examination:
    """All of these cells, one after the other."""
    examination = Examination(spec=SPEC, items=tuple(Item(id=cell.id, plan=cell.plan, cell=cell) for cell in cells))

    async def through(plans: Sequence[Plan], on_run: Callable[[int, Run], None], _: OnLost) -> None:
        for place, plan in enumerate(plans):
            on_run(place, await driver.run(plan))

    asyncio.run(examine(examination, cast("Driver", driver), Machine.here(), lambda *_: None, through=through))
    return examination
