"""The cells of the catalogue: each fault in each dimension that can change a verdict, as a plan of one operation."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from faults.acts import is_listener_act
from faults.catalogue import CATALOGUE
from faults.fault import Fault
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Phase

# Faults whose reply or whose absence has made real forwarders decide by the request's segmentation.
_SEGMENTED = ("healthy", "503-no-workers", "reset-before", "reset-after", "503-before", "503-after", "html-200")
# Another fault of the same class tells forwarders apart as well as these do.
_TOLD_BY_OTHERS = ("421-before", "425-before", "404-before", "422-before", "null-200", "no-choices-200")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row: a fault in fixed dimensions. `twin` is the id of the cell with the same evidence and the opposite
    truth; `core` marks the cells that tell forwarders apart best.
    """

    id: str
    fault: Fault
    plan: Plan
    reused: bool = False
    segments: int = 1
    upstreams: str = "any"
    twin: str | None = None
    core: bool = False


def all_cells() -> tuple[Cell, ...]:
    """Every cell, in the order of the catalogue."""
    cells: list[Cell] = []
    for fault in CATALOGUE.values():
        cells += _listener_cells(fault) if is_listener_act(fault.act) else _exchange_cells(fault)
    return tuple(cells)


def chosen(cells: tuple[Cell, ...], only: str) -> tuple[Cell, ...]:
    """The cells whose id matches the glob."""
    return tuple(cell for cell in cells if fnmatchcase(cell.id, only))


def _listener_cells(fault: Fault) -> list[Cell]:
    cells = []
    for upstream, where, upstreams in ((None, "every-upstream", 1), (0, "first-of-two", 2)):
        id_ = f"{fault.phase}/{fault.id}/{where}"
        plan = Plan(
            name=id_,
            upstreams=upstreams,
            operations=(PlannedOperation(),),
            listeners=(PlannedListener(fault=fault.id, upstream=upstream),),
        )
        slow = fault.phase is Phase.ACCEPT and upstream is None
        # Where every upstream is faulty a second sending fails too; where the twin strikes it succeeds.
        twin = None if upstream is None else _twin(fault, "first")
        cells.append(Cell(id=id_, fault=fault, plan=plan, upstreams=where, twin=twin, core=not slow))
    return cells


def _exchange_cells(fault: Fault) -> list[Cell]:
    variants = [(False, 1), (True, 1)] + ([(False, 2)] if fault.id in _SEGMENTED else [])
    cells = []
    for reused, segments in variants:
        dimension = ("reused" if reused else "first") + ("/two-segments" if segments == 2 else "")
        id_ = f"{fault.phase}/{fault.id}/{dimension}"
        operation = PlannedOperation(faults=(fault.id,), reused=reused, segments=segments)
        cells.append(
            Cell(
                id=id_,
                fault=fault,
                plan=Plan(name=id_, operations=(operation,)),
                reused=reused,
                segments=segments,
                twin=_twin(fault, dimension),
                core=_is_core(fault, reused, segments),
            )
        )
    return cells


def _twin(fault: Fault, dimension: str) -> str | None:
    """The twin's cell in the same dimension (a listener's fault has its twin among first requests)."""
    if fault.twin is None:
        return None
    twin = CATALOGUE[fault.twin]
    return f"{twin.phase}/{twin.id}/{dimension}"


def _is_core(fault: Fault, reused: bool, segments: int) -> bool:
    if segments == 2 or "retry-after" in fault.id or "last-chunk" in fault.id or fault.id in _TOLD_BY_OTHERS:
        return False
    return not reused or fault.phase is Phase.WAIT
