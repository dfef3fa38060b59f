"""Every cell of the catalogue that the subject of --subject can reach on this machine."""

import pytest

from faults.coverage import Depth
from suites.bench import Bench
from suites.cells import Cell
from suites.checks import twins
from suites.fitting import cells_for
from suites.given import refuse_bare_url
from suites.processes import Supervisor
from suites.reach import Machine, unreachable
from suites.registry import subject_named
from suites.subject import SubjectError
from suites.under_text import NOTHING_OVER


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a cell that can be reached; what cannot be is listed at the end, with the reason."""
    if "cell" not in metafunc.fixturenames:
        return
    try:
        refuse_bare_url(metafunc.config.getoption("--subject"))
        spec = subject_named(metafunc.config.getoption("--subject"), Supervisor()).spec
    except (ValueError, SubjectError) as error:
        raise pytest.UsageError(str(error)) from None
    under = metafunc.config.getoption("--under") or NOTHING_OVER
    machine = Machine.here(toxiproxy=under.toxiproxy)
    cells = cells_for([spec], Depth.FULL, under)
    reachable = {cell.id: cell for cell in cells if unreachable(cell.plan, spec, machine) is None}
    if "twin" in metafunc.fixturenames:
        pairs = {id_: (cell, reachable[cell.twin]) for id_, cell in reachable.items() if cell.twin in reachable}
        metafunc.parametrize(("cell", "twin"), pairs.values(), ids=pairs)
    else:
        metafunc.parametrize("cell", reachable.values(), ids=reachable)


def test_the_subject_keeps_its_promises_in_this_cell(bench: Bench, cell: Cell) -> None:
    """Every must holds, and the fault has struck."""
    bench.holds(cell.plan, "cells")


def test_twins_get_the_same_decision(bench: Bench, cell: Cell, twin: Cell) -> None:
    """The same evidence, whatever the router had really done; and the two were really compared."""
    judgement = bench.holds_beside_twin(cell.plan, twin.plan, "twins")
    assert [finding.check for finding in judgement.findings if finding.check == twins.CHECK.name] != []
