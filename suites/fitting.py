"""The cells that fit subjects: in words that they understand, on the way that they go, at the depth that they need."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from faults.acts import needs_tcp
from faults.coverage import Depth
from faults.form import Api
from faults.plan import Plan
from suites.cells import Cell, all_cells, disturbance_cells, poison_cells, under
from suites.subject import SubjectSpec, spoken_by_all
from suites.under_text import NOTHING_OVER, Under


def cells_for(specs: Sequence[SubjectSpec], depth: Depth, over: Under = NOTHING_OVER) -> tuple[Cell, ...]:
    """Every cell of that depth for subjects that are all of these, whatever their order.

    Where completions are nothing that all speak, all that would ask for one asks in their own words. Where one stands
    in front of a single router, no fault is left to the cells beside a healthy one. Where one speaks TLS to its router
    whatever a cell says, each cell that can be is over TLS, and those that would be there twice are left out.
    Where a container stands before the routers of all, those of what is done to it come first.
    `over` is laid over all of them; where it says that a toxic is itself the fault, they are that toxic's.
    """
    cells: Iterable[Cell] = all_cells() if over.poison is None else poison_cells(over.poison)
    depth = depth if over.poison is None else max(depth, Depth.FULL, key=list(Depth).index)
    if over.poison is None and all(spec.container for spec in specs):
        cells = (*disturbance_cells(), *cells)
    if any(spec.upstreams == 1 for spec in specs):
        cells = _met_alone(cells)
    cells = [cell for cell in cells if depth.holds(cell.depth)]
    apis = spoken_by_all(specs)
    if apis and Api.COMPLETIONS not in apis:
        cells = [_asking(cell, apis[0]) for cell in cells if cell.form.api is Api.COMPLETIONS]
    cells = tuple(_encrypted(cells) if any(spec.always_tls for spec in specs) else cells)
    if not over.overlays:
        return cells
    read_timeout_ms = min(spec.read_timeout_ms for spec in specs)
    return tuple(under(cell, over.overlays, read_timeout_ms) for cell in cells)


def _asking(cell: Cell, api: Api) -> Cell:
    operations = tuple(replace(operation, api=api.value) for operation in cell.plan.operations)
    return replace(cell, form=replace(cell.form, api=api), plan=replace(cell.plan, operations=operations))


def _met_alone(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Where the only upstream breaks is lived through as soon as where one of two does, if that is sooner."""
    for _, group in groupby(cells, key=lambda cell: cell.fault.id):
        of_fault = list(group)
        beside = [cell.depth for cell in of_fault if cell.plan.upstreams > 1]
        for cell in of_fault:
            sooner = [depth for depth in beside if cell.depth.holds(depth)]
            alone = cell.plan.listeners and cell.plan.upstreams == 1 and not cell.reused
            yield replace(cell, depth=min(sooner, key=list(Depth).index)) if alone and sooner else cell


def _encrypted(cells: Iterable[Cell]) -> Iterator[Cell]:
    seen: set[Plan] = set()
    for cell in cells:
        plan = cell.plan if needs_tcp(cell.fault.act) else replace(cell.plan, tls=True)
        unnamed = replace(plan, name="")
        if unnamed not in seen:
            seen.add(unnamed)
            yield replace(cell, plan=plan)
