"""Base against candidate, cell by cell: what changes for whom. Pure functions of two reports."""

import re
from dataclasses import dataclass
from typing import assert_never

from signoff.report import CellReport, Report
from signoff.rules import RULES, TOLD, Change, Said, breaks, failed_checks
from signoff.stated import promises_less


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """One cell of both sides; a side is None where its report lacks the cell.

    about: what it has in common with other cells of that change, such as the checks that are broken.
    """

    id: str
    change: Change
    about: str
    base: CellReport | None
    candidate: CellReport | None
    says: str


def compare(base: Report, candidate: Report) -> tuple[CellChange, ...]:
    """What changes from base to candidate: all cells of both, in the base's order, then what only the candidate has."""
    of_base = {cell.id: cell for cell in base.cells}
    of_candidate = {cell.id: cell for cell in candidate.cells}
    ids = [*of_base, *(id_ for id_ in of_candidate if id_ not in of_base)]
    less = promises_less(base.subject, candidate.subject)
    return tuple(_compare_cell(id_, of_base.get(id_), of_candidate.get(id_), less) for id_ in ids)


def judged_pairs(base: Report, candidate: Report) -> tuple[tuple[CellReport, CellReport], ...]:
    """The cells that can be compared: judged on both sides, under the same plan; in the base's order."""
    of_candidate = {cell.id: cell for cell in candidate.cells if is_judged(cell)}
    pairs = ((cell, of_candidate.get(cell.id)) for cell in base.cells if is_judged(cell))
    return tuple((was, now) for was, now in pairs if now is not None and was.plan == now.plan)


def is_judged(cell: CellReport | None) -> bool:
    """It was run, and proved something."""
    return cell is not None and cell.verdict in ("PASS", "FAIL")


def _compare_cell(id_: str, base: CellReport | None, candidate: CellReport | None, less: str) -> CellChange:
    """less: why less was judged of the candidate: what looks better may only be what it no longer promises."""
    change, says = _change(base, candidate)
    if less and change in (Change.FIXED, Change.STRONGER):
        change, says = Change.UNPROVEN, less
    about = _about(change, says, base, candidate)
    return CellChange(id=id_, change=change, about=about, base=base, candidate=candidate, says=says)


def _about(change: Change, says: str, base: CellReport | None, candidate: CellReport | None) -> str:
    broken, breaks = (failed_checks(side) if side is not None else frozenset() for side in (base, candidate))
    match change:
        case Change.REGRESSED:
            return ", ".join(sorted(breaks - broken))
        case Change.STILL_BROKEN:
            return ", ".join(sorted(breaks))
        case Change.FIXED:
            return ", ".join(sorted(broken))
        case Change.SAME:
            return TOLD if says else ""
        case Change.UNPROVEN:
            return re.sub(r"\d+", "N", says)
        case Change.WEAKER | Change.STRONGER:
            return says.partition(": ")[0]
        case _:
            assert_never(change)


def _change(base: CellReport | None, candidate: CellReport | None) -> Said:
    """What the first rule says that has something to say."""
    if base is None or candidate is None:
        lacking = f"only the {'candidate' if base is None else 'base'} has this cell"
        return Change.UNPROVEN, f"{lacking}{breaks(candidate)}"
    return next(filter(None, (rule(base, candidate) for rule in RULES)), (Change.SAME, ""))
