"""Base against candidate, cell by cell: what changes for whom. Pure functions of two reports."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from signoff.report import CellReport, Report
from signoff.stated import promises_less
from suites.findings import REACH


class Change(StrEnum):
    """What the candidate does to one cell."""

    REGRESSED = "regressed"  # a must that held is broken: blocks
    STILL_BROKEN = "still broken"  # warns; blocks under --strict
    FIXED = "fixed"  # a must that was broken holds
    WEAKER = "weaker"  # a safe retry lost, a poorer outcome, more attempts for the same outcome: warns
    STRONGER = "stronger"  # the reverse
    SAME = "same"
    UNPROVEN = "unproven"  # a side is UNKNOWN, in whole or in a must that may have held, or only one side could run


TOLD = "tells otherwise: recorded, not judged"
Said = tuple[Change, str]
Rule = Callable[[CellReport, CellReport], Said | None]


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
        return Change.UNPROVEN, f"{lacking}{_breaks(candidate)}"
    return next(filter(None, (rule(base, candidate) for rule in RULES)), (Change.SAME, ""))


def neither_ran(base: CellReport, candidate: CellReport) -> Said | None:
    """Nothing was looked at, on either side alike; a base that was examined with --strict calls that UNKNOWN."""
    base_too = base.verdict == "not_run" or (base.verdict == "UNKNOWN" and open_checks(base) == {REACH})
    return (Change.SAME, "") if candidate.verdict == "not_run" and base_too else None


def other_plans(base: CellReport, candidate: CellReport) -> Said | None:
    """What was lived through is not the same, or not by as many operations."""
    if base.plan != candidate.plan:
        why = "the plans of that id differ: other subjects, another seed or another version drew them"
        return Change.UNPROVEN, f"{why}{_breaks(candidate)}"
    if len(ranks(base)) != len(ranks(candidate)) and "not_run" not in (base.verdict, candidate.verdict):
        return Change.UNPROVEN, f"outcomes {base.outcome!r} and {candidate.outcome!r} are not of as many operations"
    return None


def unproven(base: CellReport, candidate: CellReport) -> Said | None:
    """A side has proved nothing: whether a must held, or holds, nobody knows."""
    for name, cell in (("base", base), ("candidate", candidate)):
        if cell.verdict in ("UNKNOWN", "not_run"):
            verdict = "was not run" if cell.verdict == "not_run" else "is UNKNOWN"
            return Change.UNPROVEN, f"{name} {verdict}: {cell.reason or 'it proved nothing'}{_breaks(candidate)}"
    return None


def regressed(base: CellReport, candidate: CellReport) -> Said | None:
    """A must that held is broken."""
    broken = failed_checks(candidate) - failed_checks(base) - open_checks(base)
    if broken or (candidate.verdict == "FAIL" and base.verdict == "PASS"):
        return Change.REGRESSED, f"{', '.join(sorted(broken))}: {_first_failure(candidate, broken)}"
    return None


def left_open(base: CellReport, candidate: CellReport) -> Said | None:
    """Beside what is broken, of a must that may have held nobody knows whether it does now, or did before: a failure
    of one check proves nothing of another.
    """
    nobody_knows = sorted(open_checks(candidate) - failed_checks(base))
    if nobody_knows:
        return Change.UNPROVEN, f"candidate leaves open {', '.join(nobody_knows)}{_breaks(candidate)}"
    nobody_knew = sorted(open_checks(base) & failed_checks(candidate))
    if nobody_knew:
        return Change.UNPROVEN, f"base leaves open {', '.join(nobody_knew)}{_breaks(candidate)}"
    return None


def still_broken(_base: CellReport, candidate: CellReport) -> Said | None:
    """No must is broken that was not broken before."""
    if candidate.verdict == "FAIL":
        return Change.STILL_BROKEN, _first_failure(candidate, failed_checks(candidate))
    return None


def fixed(base: CellReport, _candidate: CellReport) -> Said | None:
    """Every must holds, and one did not."""
    return (Change.FIXED, f"was: {_first_failure(base, failed_checks(base))}") if base.verdict == "FAIL" else None


def told(base: CellReport, candidate: CellReport) -> Said | None:
    """The decision of a cell that only tells is not judged: a difference is listed, and is no better and no worse. Of a
    drawn plan, which is not repeated, nobody knows whether it varies.
    """
    if not (base.tells or candidate.tells):
        return None
    if base.dimensions.get("drawn"):
        return Change.SAME, ""
    seen = [(cell.attempts, cell.outcome, cell.status) for cell in (base, candidate)]
    if base.varies or candidate.varies or seen[0] == seen[1]:
        return Change.SAME, ""
    return Change.SAME, f"tells otherwise: {_in_words(base)}; now {_in_words(candidate)}"


def varied(base: CellReport, candidate: CellReport) -> Said | None:
    """Both went the same way once they took turns: what differed came of the load of this machine."""
    return (Change.SAME, "") if base.varies and candidate.varies else None


def outcome(base: CellReport, candidate: CellReport) -> Said | None:
    """One caller that is worse off makes it weaker, whatever became of the others."""
    if ranks(base) == ranks(candidate):
        return None
    poorer = any(now < was for was, now in zip(ranks(base), ranks(candidate), strict=False))
    return Change.WEAKER if poorer else Change.STRONGER, f"outcome {base.outcome} is now {candidate.outcome}"


def warnings(base: CellReport, candidate: CellReport) -> Said | None:
    """Shoulds: a safe retry that is not made, a poor error. Where a side leaves one open, nobody can tell."""
    if base.warnings == candidate.warnings or _open_shoulds(base) or _open_shoulds(candidate):
        return None
    change = Change.STRONGER if candidate.warnings < base.warnings else Change.WEAKER
    return change, f"{base.warnings} warnings are now {candidate.warnings}{_warned(base, candidate)}"


def attempts(base: CellReport, candidate: CellReport) -> Said | None:
    """What the same outcome costs, where it was counted."""
    if base.attempts is None or candidate.attempts is None or base.attempts == candidate.attempts:
        return None
    change = Change.STRONGER if candidate.attempts < base.attempts else Change.WEAKER
    return change, f"{base.attempts} attempts are now {candidate.attempts} for the same outcome"


# In their order: the first that says something decides.
RULES: tuple[Rule, ...] = (
    neither_ran,
    other_plans,
    unproven,
    regressed,
    left_open,
    still_broken,
    fixed,
    told,
    varied,
    outcome,
    warnings,
    attempts,
)


def ranks(cell: CellReport) -> tuple[int, ...]:
    """How much the caller of each operation can do with its outcome: a result, then an honest "not executed", then
    not knowing.
    """
    return tuple({"ok": 2, "failed": 1}.get(outcome, 0) for outcome in cell.outcome.split(", "))


def failed_checks(cell: CellReport) -> frozenset[str]:
    """The musts that the cell breaks."""
    return frozenset(f.check for f in cell.findings if f.kind == "must" and f.verdict == "FAIL")


def open_checks(cell: CellReport) -> frozenset[str]:
    """The musts of which the cell does not show whether they hold, and of which none is broken beside."""
    unknown = {f.check for f in cell.findings if f.kind == "must" and f.verdict == "UNKNOWN"}
    return frozenset(unknown) - failed_checks(cell)


def _open_shoulds(cell: CellReport) -> bool:
    return any(f.kind == "should" and f.verdict == "UNKNOWN" for f in cell.findings)


def _breaks(candidate: CellReport | None) -> str:
    """What a reader must hear of a candidate that fails where nobody can say that it regressed."""
    broken = failed_checks(candidate) if candidate is not None else frozenset()
    return f"; the candidate breaks {', '.join(sorted(broken))}" if broken else ""


def _first_failure(cell: CellReport, checks: frozenset[str]) -> str:
    return next((f.says for f in cell.findings if f.check in checks and f.verdict == "FAIL"), "")


def _warned(base: CellReport, candidate: CellReport) -> str:
    """What is warned of on the side that warns more."""
    more = candidate if candidate.warnings > base.warnings else base
    says = next((f.says for f in more.findings if f.kind == "should" and f.verdict == "FAIL"), "")
    return f": {says}" if says else ""


def _in_words(cell: CellReport) -> str:
    return f"{cell.attempts} attempts, {cell.outcome} {cell.status or ''}".rstrip()
