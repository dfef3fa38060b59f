"""What fails by cause or timing must come back alone, and a run that the machine stalled in is no first time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from faults.plan import Plan
from signoff.examination import OnLost, examine
from signoff.items import Item
from signoff.results import Examination
from suites.cells import all_cells
from suites.driver import Driver
from suites.findings import Verdict
from suites.reach import Machine
from suites.reference import reference_subject
from suites.run import Run
from tests.ledgers import (
    FRESH,
    accepted,
    executed,
    lost,
    ok,
    opened,
    received,
    replied,
    replying,
    run,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
CELL = next(cell for cell in all_cells() if cell.id == "status/503-after/first")
SPEC = reference_subject(None, "").spec


class Told:
    """A driver whose runs are told beforehand: which of them do not heal, and in which the machine stalled."""

    def __init__(self, unhealed: frozenset[int], stalls: frozenset[int]) -> None:
        self.subject = SimpleNamespace(spec=SPEC)
        self.runs = 0
        self._unhealed = unhealed
        self._stalls = stalls

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """The next of them."""
        self.runs += 1
        fresh = lost(FRESH) if self.runs in self._unhealed else ok(FRESH, 90)
        stalled_ms = 500.0 if self.runs in self._stalls else 0.0
        return replace(_struck_once(plan), history=(lost(status=503), fresh), stalled_ms=stalled_ms)


def _struck_once(plan: Plan) -> Run:
    did = [opened(1), received(1), accepted(1), executed(1, 1), striking("503-after", exchange=1)]
    return run(plan, [*did, replying(1, 503), replied(1), struck(len(did))], subject=SPEC.facts)


async def _examined(driver: Told) -> Verdict | None:
    examination = Examination(spec=SPEC, items=(Item(id=CELL.id, plan=CELL.plan, cell=CELL),))

    async def through(plans: Sequence[Plan], on_run: Callable[[int, Run], None], _: OnLost) -> None:
        for place, plan in enumerate(plans):
            on_run(place, await driver.run(plan))

    await examine(examination, cast("Driver", driver), Machine.here(), lambda *_: None, through=through)
    return examination.results[CELL.id].judgement.verdict


@pytest.mark.parametrize(
    ("unhealed", "stalls", "verdict", "runs"),
    [
        ((), (), PASS, 1),
        ((1,), (), UNKNOWN, 2),
        ((1, 2), (), FAIL, 2),
        ((1,), (1,), PASS, 2),
        ((1, 2), (1,), UNKNOWN, 3),
        ((1, 2, 3), (1,), FAIL, 3),
    ],
)
def test_what_fails_by_cause_is_a_failure_when_it_was_seen_twice(
    unhealed: Sequence[int], stalls: Sequence[int], verdict: Verdict, runs: int
) -> None:
    """Also outside company: a process that is not ours may have been held up, and no loop of ours has felt it."""
    driver = Told(frozenset(unhealed), frozenset(stalls))
    assert asyncio.run(_examined(driver)) is verdict
    assert driver.runs == runs
