"""A cell that is lived through several times: whether it varies, and each way in which it went."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest

from faults.plan import Plan
from signoff.examination import OnLost, examine
from signoff.items import Item
from signoff.results import Examination, Result
from suites.driver import Driver
from suites.findings import Verdict
from suites.reach import Machine
from suites.run import Run
from tests.ledgers import lost
from tests.test_confirming import CELL, Told
from tests.told_runs import SPEC


async def _repeated(*statuses: int, missed: frozenset[int] = frozenset()) -> Result:
    item = Item(id=CELL.id, plan=CELL.plan, cell=CELL, times=len(statuses))
    examination = Examination(spec=SPEC, items=(item,))
    driver = Told(unhealed=frozenset(), stalls=frozenset(), missed=missed)

    async def through(plans: Sequence[Plan], on_run: Callable[[int, Run], None], _: OnLost) -> None:
        for place, (plan, status) in enumerate(zip(plans, statuses, strict=False)):  # or there are no plans
            lived = await driver.run(plan)
            on_run(place, replace(lived, history=(lost(status=status), *lived.history[1:])))

    await examine(examination, cast("Driver", driver), Machine.here(), lambda *_: None, through=through)
    return examination.results[CELL.id]


@pytest.mark.parametrize(
    ("statuses", "ways"),
    [
        ((503, 503, 503), []),
        ((503, 502, 503), ["1 sent, unknown 502, or 1 sent, unknown 503"]),
        ((502, 502, 503), ["1 sent, unknown 502, or 1 sent, unknown 503"]),
    ],
)
async def test_each_way_in_which_it_went_is_told_once(statuses: tuple[int, ...], ways: list[str]) -> None:
    """Whatever came first, and however often."""
    result = await _repeated(*statuses)
    assert result.varies is bool(ways)
    told = [each.says for each in result.judgement.findings if "in different ways" in each.says]
    assert told == [f"when it was repeated it went in different ways: {way}" for way in ways]


async def test_one_that_met_no_fault_says_nothing_beside_one_that_did() -> None:
    """The subject may have chosen another upstream: that is no other way to go."""
    result = await _repeated(503, 200, 503, missed=frozenset({2}))
    assert not result.varies
    assert result.judgement.verdict is Verdict.PASS
