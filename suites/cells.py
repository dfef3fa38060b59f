"""The cells of the catalogue: each fault in each dimension that can change a verdict, as a plan of one operation."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from faults.acts import HEALTHY, is_listener_act
from faults.catalogue import CATALOGUE
from faults.coverage import CALLER_LEAVES, FORMS, Depth, Dimension
from faults.fault import Fault
from faults.form import COMPLETION, Form
from faults.plan import LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Leaving


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row: a fault in fixed dimensions. `twin` is the id of the cell with the same evidence and the opposite
    truth; `depth` is the shallowest depth at which it is lived through.
    """

    id: str
    fault: Fault
    plan: Plan
    reused: bool = False
    segments: int = 1
    form: Form = COMPLETION
    leaves: Leaving | None = None
    upstreams: str = "any"
    twin: str | None = None
    depth: Depth = Depth.FULL


def all_cells(depth: Depth = Depth.DEEP) -> tuple[Cell, ...]:
    """Every cell of that depth, in the order of the catalogue."""
    cells: list[Cell] = []
    for fault in CATALOGUE.values():
        cells += _listener_cells(fault) if is_listener_act(fault.act) else _exchange_cells(fault)
    return tuple(cell for cell in cells if depth.holds(cell.depth))


def chosen(cells: tuple[Cell, ...], only: str) -> tuple[Cell, ...]:
    """The cells whose id matches the glob."""
    return tuple(cell for cell in cells if fnmatchcase(cell.id, only))


def _listener_cells(fault: Fault) -> list[Cell]:
    cells = []
    for dimension, upstream in ((Dimension.EVERY_UPSTREAM, None), (Dimension.FIRST_OF_TWO, 0)):
        id_ = f"{fault.phase}/{fault.id}/{dimension}"
        plan = Plan(
            name=id_,
            upstreams=1 if upstream is None else 2,
            operations=(PlannedOperation(),),
            listeners=(PlannedListener(fault=fault.id, upstream=upstream),),
        )
        # Where every upstream is faulty a second sending fails too; where the twin strikes it succeeds.
        twin = None if upstream is None else _twin(fault, Dimension.FIRST)
        depth = fault.coverage.depth_of(dimension)
        cells.append(Cell(id=id_, fault=fault, plan=plan, upstreams=dimension, twin=twin, depth=depth))
    return cells


def _exchange_cells(fault: Fault) -> list[Cell]:
    cells = []
    for dimension in (Dimension.FIRST, Dimension.REUSED, Dimension.TWO_SEGMENTS, *FORMS, *CALLER_LEAVES):
        operation = _operation_in(dimension, fault)
        if operation is None:
            continue
        id_ = f"{fault.phase}/{fault.id}/{dimension}"
        cells.append(
            Cell(
                id=id_,
                fault=fault,
                plan=Plan(name=id_, operations=(operation,)),
                reused=operation.reused,
                segments=operation.segments,
                form=operation.form,
                leaves=operation.leaves,
                twin=_twin(fault, dimension) if operation.leaves is None else None,
                depth=fault.coverage.depth_of(dimension),
            )
        )
    return cells


def _operation_in(dimension: Dimension, fault: Fault) -> PlannedOperation | None:
    """The operation of that cell; None for a caller that would be answered before it could leave."""
    form = FORMS.get(dimension, COMPLETION)
    operation = PlannedOperation(
        faults=(fault.id,),
        reused=dimension is Dimension.REUSED,
        segments=2 if dimension is Dimension.TWO_SEGMENTS else 1,
        api=form.api.value,
        stream=form.stream,
    )
    leaves = CALLER_LEAVES.get(dimension)
    if leaves is None or operation.waits_for_its_caller:
        return replace(operation, leaves=leaves)
    return replace(operation, leaves=leaves, gate=f"{LEFT_GATE}0") if fault.act is HEALTHY else None


def _twin(fault: Fault, dimension: Dimension) -> str | None:
    """The twin's cell in the same dimension (a listener's fault has its twin among first requests)."""
    if fault.twin is None:
        return None
    twin = CATALOGUE[fault.twin]
    return f"{twin.phase}/{twin.id}/{dimension}"
