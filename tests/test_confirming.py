"""What fails by cause or timing must come back alone, and a run that the machine stalled in is no first time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from faults.plan import Plan
from signoff.confirming import Confirming
from signoff.items import Item
from signoff.results import Examination, Result, Smallest
from suites.cells import all_cells
from suites.findings import Verdict
from suites.judge import judge
from suites.lives import Alone
from suites.run import Run
from tests.ledgers import FRESH, accepted, executed, lost, ok, opened, received, replied, replying, run
from tests.told_runs import SPEC, answered_503, examined

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
CELL = next(cell for cell in all_cells() if cell.id == "status/503-after/first")


class Told:
    """A driver whose runs are told beforehand: which of them do not heal, in which the machine stalled, and which meet
    no fault.
    """

    def __init__(self, unhealed: frozenset[int], stalls: frozenset[int], missed: frozenset[int] = frozenset()) -> None:
        self.subject = SimpleNamespace(spec=SPEC)
        self.runs = 0
        self._unhealed = unhealed
        self._stalls = stalls
        self._missed = missed

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """The next of them."""
        self.runs += 1
        fresh = lost(FRESH) if self.runs in self._unhealed else ok(FRESH, 90)
        stalled_ms = 500.0 if self.runs in self._stalls else 0.0
        lived = _missed(plan) if self.runs in self._missed else answered_503(plan, "503-after", worked=True)
        return replace(lived, history=(lost(status=503), fresh), stalled_ms=stalled_ms)


def _missed(plan: Plan) -> Run:
    return run(
        plan, [opened(1), received(1), accepted(1), executed(1, 1), replying(1, 200), replied(1)], subject=SPEC.facts
    )


def _examined(driver: Told) -> Verdict | None:
    return examined(driver, [CELL]).results[CELL.id].judgement.verdict


@pytest.mark.parametrize(
    ("unhealed", "stalls", "verdict", "runs"),
    [
        ((), (), PASS, 1),
        ((1,), (), UNKNOWN, 2),
        ((1, 2), (), FAIL, 2),
        ((1,), (1,), PASS, 2),
        ((1, 2), (1,), UNKNOWN, 3),
        ((1, 2, 3), (1,), FAIL, 3),
        ((2, 3), (1,), FAIL, 3),  # nor that nothing failed in it
        ((1,), (2,), UNKNOWN, 3),  # that it did not come back while the machine stalled says nothing
        ((1, 3), (2,), FAIL, 3),
        (range(1, 6), (2, 3, 4), FAIL, 5),
        (range(1, 7), (1, 2, 3, 4), FAIL, 6),
        (range(1, 99), range(2, 99), UNKNOWN, 13),  # there is an end to it
        (range(1, 99), range(1, 99), UNKNOWN, 13),
    ],
)
def test_what_fails_by_cause_is_a_failure_when_it_was_seen_twice(
    unhealed: Sequence[int], stalls: Sequence[int], verdict: Verdict, runs: int
) -> None:
    """Also outside company: a process that is not ours may have been held up, and no loop of ours has felt it."""
    driver = Told(frozenset(unhealed), frozenset(stalls))
    assert _examined(driver) is verdict
    assert driver.runs == runs


def test_a_confirmation_that_judged_nothing_is_made_again() -> None:
    """Its fault was not met, so that what failed had no occasion to come back; it does at the next one."""
    driver = Told(frozenset({1, 3}), frozenset(), missed=frozenset({2}))
    assert _examined(driver) is FAIL
    assert driver.runs == 3


@pytest.mark.parametrize(("unhealed", "verdict"), [({1, 3}, FAIL), ({1}, UNKNOWN)])
def test_what_a_plan_was_cut_down_to_meanwhile_stays_as_long_as_it_fails(unhealed: set[int], verdict: Verdict) -> None:
    """Its first confirmation is open, it is cut down, and only then it is confirmed once more."""
    driver, item = Told(frozenset(unhealed), frozenset({2})), Item(id="drawn/0000", plan=CELL.plan)
    examination = Examination(spec=SPEC, items=(item,))

    async def confirmed() -> Result:
        failed = await driver.run(item.plan)
        result = examination.results[item.id] = Result(item=item, run=failed, judgement=judge(failed))
        alone = Alone(driver=driver, places=asyncio.Semaphore(1))
        confirming = Confirming(examination, alone, lambda *_: None)
        confirming.add(result)
        confirming.no_more()
        await confirming.as_they_come()
        smallest = Smallest(plan=item.plan, run=failed, judgement=result.judgement)
        examination.results[item.id] = replace(examination.results[item.id], smallest=smallest)
        await confirming.once_more()
        return examination.results[item.id]

    result = asyncio.run(confirmed())
    assert (result.judgement.verdict, result.smallest is not None) == (verdict, verdict is FAIL)
