"""`--lanes N`: never more runs side by side, also when what proved nothing is lived through again."""

import asyncio
from dataclasses import dataclass

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from signoff.examination import examine
from signoff.items import Item
from signoff.results import Examination
from suites.driver import Driver
from suites.reach import Machine
from suites.reference import reference_subject
from suites.run import Run

# The reference begins with its first upstream: this fault is never met, and the plan gets its second chance.
ELSEWHERE = Plan(
    upstreams=2, operations=(PlannedOperation(),), listeners=(PlannedListener(fault="accept-reset", upstream=1),)
)
ITEMS = tuple(Item(id=f"elsewhere/{number}", plan=ELSEWHERE) for number in range(6))


@dataclass(kw_only=True)
class Counting(Driver):
    """Knows how many runs were under way at once, and how many there were."""

    now: int = 0
    most: int = 0
    runs: int = 0

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        self.now += 1
        self.runs += 1
        self.most = max(self.most, self.now)
        try:
            return await super().run(plan, turn=turn)
        finally:
            self.now -= 1


@pytest.mark.parametrize(("lanes", "most"), [(1, 1), (2, 2), (None, 6)])
def test_so_many_runs_go_on_side_by_side(lanes: int | None, most: int) -> None:
    """Twice: at first, and when they are made again since they proved nothing."""

    async def examined() -> Counting:
        subject = reference_subject(None, "")
        examination = Examination(spec=subject.spec, items=ITEMS)
        async with Counting(subject=subject, routers=routers) as driver:
            await examine(examination, driver, Machine.here(), lambda *_: None, lanes=lanes)
        return driver

    with RouterThread() as routers:
        driver = asyncio.run(examined())
    assert driver.most == most
    assert driver.runs >= 2 * len(ITEMS)  # more, where the machine stalled
