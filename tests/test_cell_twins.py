"""The cell that is named as a twin is there to be held against, at the same depth."""

import pytest

from faults.catalogue import POISONS
from faults.fault import Fault
from faults.poison import Moment, Poison, Poisoning
from suites.cells import Cell, all_cells, poison_cells

OF_POISONS = tuple(cell for toxic in Poisoning for cell in poison_cells(toxic))


@pytest.mark.parametrize("cells", [all_cells(), OF_POISONS], ids=["catalogue", "poisons"])
def test_every_twin_is_a_cell_of_the_same_evidence_and_of_the_opposite_truth(cells: tuple[Cell, ...]) -> None:
    """One that nobody lives through is held against nothing, and nobody would notice."""
    by_id = {cell.id: cell for cell in cells}
    pairs = [(cell, by_id[cell.twin]) for cell in cells if cell.twin is not None]
    assert pairs
    for cell, twin in pairs:
        assert cell.fault.evidence == twin.fault.evidence
        assert cell.fault.truth.executed is not twin.fault.truth.executed
        assert len(cell.plan.operations) == len(twin.plan.operations)
        assert cell.depth.holds(twin.depth), cell.id


@pytest.mark.parametrize(
    "fault", [fault for fault in POISONS.values() if fault.twin is not None], ids=lambda one: one.id
)
def test_a_poison_that_has_a_twin_is_held_against_it_in_some_cell(fault: Fault) -> None:
    """In the same dimension: both strike a way. What strikes while idle is there on a reused connection alone."""
    twins = {cell.id: cell.twin for cell in OF_POISONS if cell.fault is fault and cell.twin is not None}
    assert twins
    for id_, twin in twins.items():
        assert twin == id_.replace(fault.id, fault.twin or "")
    assert isinstance(fault.act, Poison)
    if fault.act.at is Moment.IDLE:
        assert set(twins) == {f"toxic/{fault.id}/reused"}
