"""The cells of the catalogue: each fault in each dimension that can change a verdict, as a plan of one operation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from faults.acts import (
    HEALTHY,
    Act,
    is_listener_act,
    may_meet_reused,
    needs_expectation,
    needs_stream,
    needs_tcp,
    needs_tls,
    needs_whole,
    strikes_idle,
)
from faults.catalogue import CATALOGUE, DISTURBANCES, POISONS, fault_named
from faults.coverage import CALLER_LEAVES, FORMS, Depth, Dimension
from faults.disturbance import Disturb
from faults.fault import Fault
from faults.form import COMPLETION, STREAM, Form
from faults.plan import EACH_BYTE, LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.poison import Moment, Poison, Poisoning
from faults.sight import sight_is_certain
from faults.under import Overlay, behind, slower_ms
from faults.vocabulary import Leaving

_OVER_TLS = (Dimension.TLS, Dimension.FIRST_OF_TWO_TLS)
_SEGMENTS: Mapping[Dimension, int] = {Dimension.TWO_SEGMENTS: 2, Dimension.EACH_BYTE: EACH_BYTE}
_BODY_BYTES: Mapping[Dimension, int] = {
    Dimension.FIRST_64KB: 64 * 1024,
    Dimension.FIRST_2MB: 2 * 1024 * 1024,
    Dimension.FIRST_OF_TWO_2MB: 2 * 1024 * 1024,
    Dimension.FIRST_OF_TWO_8MB: 8 * 1024 * 1024,
}
_OF_EXCHANGE = (
    Dimension.FIRST,
    Dimension.FOLLOWED,
    Dimension.REUSED,
    Dimension.TWO_SEGMENTS,
    Dimension.EACH_BYTE,
    Dimension.FIRST_64KB,
    Dimension.FIRST_2MB,
    Dimension.TLS,
    *FORMS,
    *CALLER_LEAVES,
)
# Each with the dimension in which an exchange's fault is its twin (a listener's is it in the same one). Where every
# upstream is faulty a second sending fails too; where an exchange's fault strikes it succeeds. What lies idle is held
# on every upstream, for nobody knows which of them the next request takes.
_OF_LISTENER: Mapping[Dimension, Dimension | None] = {
    Dimension.EVERY_UPSTREAM: None,
    Dimension.FIRST_OF_TWO: Dimension.FIRST,
    Dimension.REUSED: Dimension.REUSED,
    Dimension.FIRST_OF_TWO_2MB: Dimension.FIRST_2MB,
    Dimension.FIRST_OF_TWO_8MB: None,
    Dimension.FIRST_OF_TWO_TLS: Dimension.TLS,
}
_BESIDE_HEALTHY = frozenset(dimension for dimension in _OF_LISTENER if dimension.startswith(Dimension.FIRST_OF_TWO))


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
    body_bytes: int = 0
    form: Form = COMPLETION
    leaves: Leaving | None = None
    upstreams: str = "any"
    twin: str | None = None
    depth: Depth = Depth.FULL


def poison_cells(toxic: Poisoning) -> tuple[Cell, ...]:
    """Every cell in which that toxic is itself the fault."""
    faults = [fault for fault in POISONS.values() if isinstance(fault.act, Poison) and fault.act.toxic is toxic]
    return tuple(cell for fault in faults for cell in _cells_of(fault))


def disturbance_cells() -> tuple[Cell, ...]:
    """The cells of what is done to a container between forwarder and routers."""
    return tuple(cell for fault in DISTURBANCES.values() for cell in _cells_of(fault))


def under(cell: Cell, overlays: tuple[Overlay, ...], read_timeout_ms: int) -> Cell:
    """The same cell under these toxics. It has no twin where what is seen may come on either side of a time-out."""
    plan = replace(cell.plan, under=overlays)
    slower = slower_ms(overlays, cell.body_bytes) / read_timeout_ms
    certain = behind(cell.fault, tls=plan.tls, slower=slower).sight_is_certain
    return replace(cell, plan=plan, twin=cell.twin if certain else None)


def all_cells(depth: Depth = Depth.DEEP) -> tuple[Cell, ...]:
    """Every cell of that depth, in the order of the catalogue."""
    return tuple(cell for fault in CATALOGUE.values() for cell in _cells_of(fault) if depth.holds(cell.depth))


def _cells_of(fault: Fault) -> Iterator[Cell]:
    of_listener = is_listener_act(fault.act)
    for dimension in _OF_LISTENER if of_listener else _OF_EXCHANGE:
        if fault.coverage.has(dimension) and _is_possible(fault.act, dimension):
            cell = _listener_cell(fault, dimension) if of_listener else _exchange_cell(fault, dimension)
            if cell is not None:
                yield cell


def _is_possible(act: Act, dimension: Dimension) -> bool:
    """A fault that strikes TLS alone has no cells over plain TCP: its plain dimensions are TLS already. One that
    strikes a stream alone asks for one in each of them.
    """
    if dimension in (Dimension.STREAM, Dimension.CHAT) and needs_stream(act):
        return False
    if dimension in FORMS and FORMS[dimension].stream and needs_whole(act):
        return False
    if isinstance(act, Disturb):
        return dimension is Dimension.EVERY_UPSTREAM  # it stands before all of them
    if is_listener_act(act) and dimension is Dimension.REUSED:
        return may_meet_reused(act)
    if isinstance(act, Poison) and act.at is Moment.IDLE:
        return False
    if dimension in _OVER_TLS and (needs_tls(act) or needs_tcp(act)):
        return False
    return not strikes_idle(act)


def chosen(cells: tuple[Cell, ...], only: str) -> tuple[Cell, ...]:
    """The cells whose id matches the glob."""
    return tuple(cell for cell in cells if fnmatchcase(cell.id, only))


def _listener_cell(fault: Fault, dimension: Dimension) -> Cell:
    beside_healthy = dimension in _BESIDE_HEALTHY
    id_ = f"{fault.phase}/{fault.id}/{dimension}"
    operation = PlannedOperation(
        reused=dimension is Dimension.REUSED,
        body_bytes=_BODY_BYTES.get(dimension, 0),
        expect=needs_expectation(fault.act),
    )
    plan = Plan(
        name=id_,
        upstreams=2 if beside_healthy else 1,
        tls=_is_tls(fault, dimension),
        operations=(operation,),
        listeners=(PlannedListener(fault=fault.id, upstream=0 if beside_healthy else None),),
    )
    return Cell(
        id=id_,
        fault=fault,
        plan=plan,
        reused=operation.reused,
        body_bytes=operation.body_bytes,
        upstreams=Dimension.FIRST_OF_TWO if beside_healthy else Dimension.EVERY_UPSTREAM,
        twin=_twin_of_listener(fault, dimension, tls=plan.tls),
        depth=fault.coverage.depth_of(dimension),
    )


def _twin_of_listener(fault: Fault, dimension: Dimension, *, tls: bool) -> str | None:
    if fault.twin is not None and is_listener_act(fault_named(fault.twin).act):
        return _twin(fault, dimension)
    of_twin = Dimension.TLS if tls and dimension in _BESIDE_HEALTHY else _OF_LISTENER[dimension]
    return None if of_twin is None else _twin(fault, of_twin)


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
        body_bytes=operation.body_bytes,
        form=operation.form,
        leaves=operation.leaves,
        twin=_twin(fault, dimension) if operation.leaves is None else None,
        depth=fault.coverage.depth_of(dimension),
    )


def _is_tls(fault: Fault, dimension: Dimension) -> bool:
    return dimension in _OVER_TLS or needs_tls(fault.act)


def _operation_in(dimension: Dimension, fault: Fault) -> PlannedOperation | None:
    """The operation of that cell; None for a caller that would be answered before it could leave."""
    form = FORMS.get(dimension, STREAM if needs_stream(fault.act) else COMPLETION)
    operation = PlannedOperation(
        faults=(fault.id,),
        reused=dimension is Dimension.REUSED,
        segments=_SEGMENTS.get(dimension, 1),
        body_bytes=_BODY_BYTES.get(dimension, 0),
        api=form.api.value,
        stream=form.stream,
    )
    leaves = CALLER_LEAVES.get(dimension)
    if leaves is None or operation.waits_for_its_caller:
        return replace(operation, leaves=leaves)
    return replace(operation, leaves=leaves, gate=f"{LEFT_GATE}0") if fault.act is HEALTHY else None


def _twin(fault: Fault, dimension: Dimension) -> str | None:
    """The twin's cell in that dimension, if it has one there. Of a fault whose sight is not certain none: one side may
    have seen what the other has not.
    """
    if fault.twin is None or not sight_is_certain(fault.act):
        return None
    twin = fault_named(fault.twin)
    if not twin.coverage.has(dimension) or not _is_possible(twin.act, dimension):
        return None
    return f"{twin.phase}/{twin.id}/{dimension}"
