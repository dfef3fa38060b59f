"""The cells of the catalogue: each fault in each dimension that can change a verdict, as a plan of one operation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from faults.acts import HEALTHY, is_listener_act, needs_tls
from faults.catalogue import CATALOGUE, fault_named
from faults.coverage import CALLER_LEAVES, FORMS, Depth, Dimension
from faults.fault import Fault
from faults.form import COMPLETION, Api, Form
from faults.plan import LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.truth import sight_is_certain
from faults.vocabulary import Leaving

_OVER_TLS = (Dimension.TLS, Dimension.FIRST_OF_TWO_TLS)
_OF_EXCHANGE = (
    Dimension.FIRST,
    Dimension.FOLLOWED,
    Dimension.REUSED,
    Dimension.TWO_SEGMENTS,
    Dimension.TLS,
    *FORMS,
    *CALLER_LEAVES,
)
_OF_LISTENER = (Dimension.EVERY_UPSTREAM, Dimension.FIRST_OF_TWO, Dimension.FIRST_OF_TWO_TLS)


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
    return tuple(cell for fault in CATALOGUE.values() for cell in _cells_of(fault) if depth.holds(cell.depth))


def _cells_of(fault: Fault) -> Iterator[Cell]:
    of_listener = is_listener_act(fault.act)
    for dimension in _OF_LISTENER if of_listener else _OF_EXCHANGE:
        # A fault that strikes TLS alone has no cells over plain TCP: its plain dimensions are TLS already.
        if dimension not in _OVER_TLS or not needs_tls(fault.act):
            cell = _listener_cell(fault, dimension) if of_listener else _exchange_cell(fault, dimension)
            if cell is not None:
                yield cell


def cells_for(apis: Sequence[Api], depth: Depth) -> tuple[Cell, ...]:
    """Every cell of that depth for subjects that speak these: where completions are none of them, all that would ask
    for one asks in their own words.
    """
    cells = all_cells(depth)
    if not apis or Api.COMPLETIONS in apis:
        return cells
    return tuple(_asking(cell, apis[0]) for cell in cells if cell.form.api is Api.COMPLETIONS)


def _asking(cell: Cell, api: Api) -> Cell:
    operations = tuple(replace(operation, api=api.value) for operation in cell.plan.operations)
    return replace(cell, form=replace(cell.form, api=api), plan=replace(cell.plan, operations=operations))


def chosen(cells: tuple[Cell, ...], only: str) -> tuple[Cell, ...]:
    """The cells whose id matches the glob."""
    return tuple(cell for cell in cells if fnmatchcase(cell.id, only))


def _listener_cell(fault: Fault, dimension: Dimension) -> Cell:
    beside_healthy = dimension is not Dimension.EVERY_UPSTREAM
    id_ = f"{fault.phase}/{fault.id}/{dimension}"
    plan = Plan(
        name=id_,
        upstreams=2 if beside_healthy else 1,
        tls=_is_tls(fault, dimension),
        operations=(PlannedOperation(),),
        listeners=(PlannedListener(fault=fault.id, upstream=0 if beside_healthy else None),),
    )
    # Where every upstream is faulty a second sending fails too; where the twin strikes it succeeds.
    twin = _twin(fault, Dimension.TLS if plan.tls else Dimension.FIRST) if beside_healthy else None
    depth = fault.coverage.depth_of(dimension)
    upstreams = Dimension.FIRST_OF_TWO if beside_healthy else dimension
    return Cell(id=id_, fault=fault, plan=plan, upstreams=upstreams, twin=twin, depth=depth)


def _exchange_cell(fault: Fault, dimension: Dimension) -> Cell | None:
    operation = _operation_in(dimension, fault)
    if operation is None:
        return None
    followed = (PlannedOperation(wave=1),) if dimension is Dimension.FOLLOWED else ()
    id_ = f"{fault.phase}/{fault.id}/{dimension}"
    return Cell(
        id=id_,
        fault=fault,
        plan=Plan(name=id_, tls=_is_tls(fault, dimension), operations=(operation, *followed)),
        reused=operation.reused,
        segments=operation.segments,
        form=operation.form,
        leaves=operation.leaves,
        twin=_twin(fault, dimension) if operation.leaves is None else None,
        depth=fault.coverage.depth_of(dimension),
    )


def _is_tls(fault: Fault, dimension: Dimension) -> bool:
    return dimension in _OVER_TLS or needs_tls(fault.act)


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
    """The twin's cell in the same dimension (a listener's fault has its twin among first requests). Of a fault whose
    sight is not certain none: one side may have seen what the other has not.
    """
    if fault.twin is None or not sight_is_certain(fault.act):
        return None
    twin = fault_named(fault.twin)
    return f"{twin.phase}/{twin.id}/{dimension}"
