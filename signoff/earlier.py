"""An earlier report in place of the base of a sign-off: its own plans are lived through by the candidate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.metadata import version

import msgspec

from faults.catalogue import POISONS
from faults.coverage import Depth
from faults.plan import Plan, PlanError
from faults.plan_json import plan_from_json
from faults.poison import Poison
from signoff.futures_cells import PHASE
from signoff.items import Choice, Item, NothingToDoError, cell_item
from signoff.report import CellReport, Report, ReportError
from signoff.reporting import counts_of, overall
from suites.cells import Cell, all_cells, disturbance_cells, poison_cells, under
from suites.fitting import cells_for
from suites.subject import SubjectSpec

_SHOWN = 3  # ids of a kind: more teach nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What is compared with that report. report: its cells that were asked for. items: their plans, for the candidate.
    notes: what a reader must know of it: its version, what it lacks, what cannot be read any more.
    """

    report: Report
    items: tuple[Item, ...]
    choice: Choice
    notes: tuple[str, ...]


def earlier_than(report: Report, spec: SubjectSpec, *, only: str | None, depth: Depth) -> Earlier:
    """The plans of that report which are asked for: those that match `only`, and of a shallower depth only its cells.

    Raises NothingToDoError where that leaves none, and ReportError for what no report of ours says.
    """
    cells = _asked(report.cells, only, depth)
    items: list[Item] = []
    unread: list[str] = []
    known = _known()
    for cell in cells:
        if cell.phase == PHASE:
            continue  # the suite of futures draws its scripts again, from the same seed
        try:
            items.append(_item(cell, plan_from_json(cell.plan), known.get(cell.id), spec))
        except PlanError as error:
            unread.append(f"{cell.id} ({error})")
    if not cells:
        raise NothingToDoError(f"no cell of that report is asked for (--only {only!r}, --depth {depth})")
    narrowed = msgspec.structs.replace(report, cells=cells, counts=counts_of(cells), verdict=overall(cells))
    return Earlier(
        report=report if len(cells) == len(report.cells) else narrowed,
        items=tuple(items),
        choice=_choice(report, items, only),
        notes=_notes(report, spec, unread, only, depth),
    )


def _asked(cells: Sequence[CellReport], only: str | None, depth: Depth) -> tuple[CellReport, ...]:
    if only is not None:
        cells = [cell for cell in cells if fnmatchcase(cell.id, only)]
    if depth is Depth.CORE:
        core = {cell.id for cell in all_cells(Depth.CORE)}
        cells = [cell for cell in cells if cell.id in core]
    return tuple(cells)


def _known() -> dict[str, Cell]:
    toxics = {fault.act.toxic for fault in POISONS.values() if isinstance(fault.act, Poison)}
    poisoned = [cell for toxic in sorted(toxics) for cell in poison_cells(toxic)]
    return {cell.id: cell for cell in (*poisoned, *disturbance_cells(), *all_cells())}


def _item(cell: CellReport, plan: Plan, known: Cell | None, spec: SubjectSpec) -> Item:
    """The report's own plan, which may not be the one that this version has under that name."""
    if known is None or (plan.faults and known.fault.id not in plan.faults):
        return Item(id=cell.id, plan=plan)
    known = under(known, plan.under, spec.read_timeout_ms) if plan.under else known
    return cell_item(replace(known, plan=plan, form=plan.operations[0].form))


def _choice(report: Report, items: Sequence[Item], only: str | None) -> Choice:
    """As that report was asked for: from the same seed the suite of futures draws the same scripts."""
    scripts = [_scripts(cell) for cell in report.cells if cell.phase == PHASE]
    drawn = sum(bool(cell.dimensions.get("drawn")) for cell in report.cells)
    return Choice(
        depth=_depth(report),
        seed=report.seed,
        only=only,
        examples=next(iter(scripts), drawn),
        toxics=any(item.plan.needs_toxiproxy for item in items),
        futures=bool(scripts),
    )


def _depth(report: Report) -> Depth:
    try:
        return Depth(report.depth)
    except ValueError:
        raise ReportError(f"depth is {report.depth!r}; expected one of {', '.join(Depth)}") from None


def _scripts(cell: CellReport) -> int:
    """How many were drawn at most."""
    drawn = cell.plan.get(PHASE)
    examples = drawn.get("examples") if isinstance(drawn, dict) else None
    if not isinstance(examples, int):
        raise ReportError(f"the plan of {cell.id!r} is {cell.plan!r}; expected how many scripts were drawn")
    return examples


def _notes(report: Report, spec: SubjectSpec, unread: Sequence[str], only: str | None, depth: Depth) -> tuple[str, ...]:
    notes = [
        f"base is a report of before, by {report.tool}, of {report.subject.name} {report.subject.version}".rstrip()
    ]
    ours = f"retryproof {version('retryproof')}"
    if report.tool != ours:
        notes.append(f"this is {ours}: what another version judged may be judged otherwise now")
    if unread:
        notes.append(f"{_count(unread, 'plan')} of the base cannot be read any more: {_some(unread)}")
    have = {cell.id for cell in report.cells}
    deep = depth if depth is Depth.CORE else _depth(report)
    wanted = [cell.id for cell in cells_for([spec], deep) if only is None or fnmatchcase(cell.id, only)]
    missing = [id_ for id_ in wanted if id_ not in have]
    if missing:
        notes.append(f"the base lacks {_count(missing, 'cell')} that this version has: {_some(missing)}; not compared")
    return tuple(notes)


def _count(found: Sequence[str], what: str) -> str:
    return f"{len(found)} {what}{'' if len(found) == 1 else 's'}"


def _some(found: Sequence[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
