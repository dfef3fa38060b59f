"""A cell that went otherwise than its twin's while this machine stalled has another chance, and no more than that."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from faults.plan import Plan
from suites.cells import Cell, all_cells
from suites.findings import Verdict
from suites.run import Run
from tests.ledgers import FRESH, lost, ok
from tests.told_runs import SPEC, answered_503, examined

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
BEFORE, AFTER = "status/503-before/first", "status/503-after/first"
CELLS = [cell for cell in all_cells() if cell.id in (BEFORE, AFTER)]


class Told:
    """A driver that is told in which runs of the one before the machine stalls, and in which the answer is another."""

    def __init__(self, stalls: Sequence[int], otherwise: Sequence[int]) -> None:
        self.subject = SimpleNamespace(spec=SPEC)
        self.runs: Counter[str] = Counter()
        self._stalls = stalls
        self._otherwise = otherwise

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """The next of them."""
        (fault,) = plan.operations[0].faults
        self.runs[fault] += 1
        first = fault == "503-before"
        number = self.runs[fault] if first else 0
        lived = answered_503(plan, fault, worked=not first)
        history = (lost(status=504 if number in self._otherwise else 503), ok(FRESH, 90))
        return replace(lived, history=history, stalled_ms=500.0 if number in self._stalls else 0.0)


def _verdicts(driver: Told, cells: Sequence[Cell]) -> set[Verdict | None]:
    """All verdicts of these."""
    return {result.judgement.verdict for result in examined(driver, cells).in_order()}


@pytest.mark.parametrize(
    ("stalls", "otherwise", "verdict", "runs"),
    [
        ((), (), PASS, 1),
        ((1, 2), (1, 2), PASS, 3),
        ((1, 2, 3), (1, 2, 3), PASS, 4),
        ((1, 2), (1, 2, 3), FAIL, 3),  # a difference that is there without a stall is one
        ((1, 2, 3), (1, 2, 3, 4), FAIL, 4),
        (range(1, 9), range(1, 9), UNKNOWN, 4),  # there is an end to it
        ((1, 2), (1,), PASS, 2),  # it stalled, and went as its twin: nothing to be shown
    ],
)
def test_what_went_otherwise_than_its_twin_while_the_machine_stalled_is_lived_through_again(
    stalls: Sequence[int], otherwise: Sequence[int], verdict: Verdict, runs: int
) -> None:
    """Its twin, which did not stall, is not."""
    driver = Told(stalls, otherwise)
    assert _verdicts(driver, CELLS) == {verdict}
    assert driver.runs == {"503-before": runs, "503-after": 1}


def test_so_is_one_that_has_no_twin_itself_and_is_one() -> None:
    """The other cell, which is held against it, shows the difference."""
    driver = Told((1, 2), (1, 2))
    assert _verdicts(driver, [replace(cell, twin=None) if cell.id == BEFORE else cell for cell in CELLS]) == {PASS}
    assert driver.runs == {"503-before": 3, "503-after": 1}
