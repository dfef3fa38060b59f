"""kill -9 in the midst of work, with a store that outlives its process: nothing runs twice, nothing that was taken is
forgotten, and what was told once is never different. (A hundred drawn points: `python -m benchmarks.futures_kills`.)
"""

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.futures_kills import killed_at
from fake_router.thread import RouterThread
from suites.findings import Verdict
from suites.futures.kills import By, Point, judge_killing
from suites.numbers import Numbers
from suites.processes import Supervisor

NUMBERS = Numbers()


@pytest.fixture(scope="module")
def routers() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


@pytest.mark.parametrize(
    "point",
    [
        Point(by=By.ROUTER, event=5),
        Point(by=By.ROUTER, event=35),
        Point(by=By.CALLERS, event=3),
        Point(by=By.CALLERS, event=18),
        Point(by=By.CALLERS, event=1_000),
    ],
    ids=lambda point: f"{point.by}-{point.event}",
)
async def test_a_kill_in_the_midst_of_work_changes_nothing_that_was_told(routers: RouterThread, point: Point) -> None:
    """Every operation is asked for again afterwards, by its key and by its id."""
    async with asyncio.timeout(60), Supervisor() as supervisor:
        record = await killed_at(point, supervisor, routers, NUMBERS)
    found = judge_killing(record)
    assert [finding for finding in found if finding.verdict is not Verdict.PASS] == []
    assert {"at-most-once", "nothing-forgotten", "honest-ids", "unique-ids"} <= {finding.check for finding in found}
