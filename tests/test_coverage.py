"""At which depth a cell is lived through comes from its fault's data."""

import pytest

from faults.coverage import Coverage, Depth, Dimension
from suites.cells import all_cells


def test_each_depth_holds_the_cells_of_those_before_it() -> None:
    """Core in full, full in deep; each step adds cells."""
    core, full, deep = (list(all_cells(depth)) for depth in Depth)
    assert [cell for cell in full if cell in core] == core
    assert [cell for cell in deep if cell in full] == full
    assert len(core) < len(full) < len(deep)


@pytest.mark.parametrize("dimension", Dimension)
def test_a_cell_is_as_deep_as_its_fault_says(dimension: Dimension) -> None:
    """Named as core it is core, named as full it is full; a plain cell of a fault that says nothing is full."""
    plain = dimension in (Dimension.FIRST, Dimension.EVERY_UPSTREAM, Dimension.FIRST_OF_TWO)
    assert Coverage(core=frozenset({dimension})).depth_of(dimension) is Depth.CORE
    assert Coverage(full=frozenset({dimension})).depth_of(dimension) is Depth.FULL
    assert Coverage().depth_of(dimension) is (Depth.FULL if plain else Depth.DEEP)
