"""Every cell of the catalogue, on the subject of --subject."""

import pytest

from suites.bench import Bench
from suites.cells import Cell, all_cells
from suites.findings import Verdict
from suites.judge import judge_twins

CELLS = {cell.id: cell for cell in all_cells()}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_the_subject_keeps_its_promises_in_this_cell(bench: Bench, cell: Cell) -> None:
    """Every must holds, and the fault has struck; what cannot be reached is not judged."""
    reason = bench.why_unreachable(cell.plan)
    if reason is not None:
        pytest.skip(reason)
    bench.holds(cell.plan, "cells")


@pytest.mark.parametrize("cell", [cell for cell in CELLS.values() if cell.twin is not None], ids=lambda cell: cell.id)
def test_twins_get_the_same_decision(bench: Bench, cell: Cell) -> None:
    """The same evidence, whatever the router had really done."""
    assert cell.twin is not None
    twin = CELLS[cell.twin]
    for plan in (cell.plan, twin.plan):
        reason = bench.why_unreachable(plan)
        if reason is not None:
            pytest.skip(reason)
    findings = judge_twins(bench.live(cell.plan, "twins")[0], bench.live(twin.plan, "twins")[0])
    assert [finding.says for finding in findings if finding.verdict is Verdict.FAIL] == []
