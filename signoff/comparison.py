"""Base against candidate, cell by cell: what changes for whom. Pure functions of two reports."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from signoff.report import CellReport, Report


class Change(StrEnum):
    """What the candidate does to one cell."""

    REGRESSED = "regressed"  # a must that held is broken: blocks
    STILL_BROKEN = "still broken"  # warns; blocks under --strict
    FIXED = "fixed"  # a must that was broken holds
    WEAKER = "weaker"  # a safe retry lost, a poorer outcome, more attempts for the same outcome: warns
    STRONGER = "stronger"  # the reverse
    SAME = "same"
    UNPROVEN = "unproven"  # a side is UNKNOWN, or only one side could run


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """One cell of both sides; a side is None where its report lacks the cell."""

    id: str
    change: Change
    base: CellReport | None
    candidate: CellReport | None
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All cells of both sides, in the base's order, then what only the candidate has."""

    base: Report
    candidate: Report
    cells: tuple[CellChange, ...]

    def counts(self) -> Counter[Change]:
        """How many cells changed in which way."""
        return Counter(cell.change for cell in self.cells)

    def differing(self) -> tuple[CellChange, ...]:
        """Every cell that is not the same on both sides, and every one that only tells and tells otherwise."""
        return tuple(cell for cell in self.cells if cell.change is not Change.SAME or cell.says)

    def exit_code(self, *, strict: bool) -> int:
        """1 if anything blocks, else 3 if anything is unproven (or nothing was compared), else 0."""
        counts = self.counts()
        if counts[Change.REGRESSED] or (strict and counts[Change.STILL_BROKEN]):
            return 1
        judged = any(cell.base and cell.base.verdict in ("PASS", "FAIL") for cell in self.cells)
        return 3 if counts[Change.UNPROVEN] or not judged else 0


def compare(base: Report, candidate: Report) -> Comparison:
    """What changes from base to candidate."""
    of_base = {cell.id: cell for cell in base.cells}
    of_candidate = {cell.id: cell for cell in candidate.cells}
    ids = [*of_base, *(id_ for id_ in of_candidate if id_ not in of_base)]
    cells = tuple(_compare_cell(id_, of_base.get(id_), of_candidate.get(id_)) for id_ in ids)
    return Comparison(base=base, candidate=candidate, cells=cells)


def _compare_cell(id_: str, base: CellReport | None, candidate: CellReport | None) -> CellChange:
    change, says = _change(base, candidate)
    return CellChange(id=id_, change=change, base=base, candidate=candidate, says=says)


def _change(base: CellReport | None, candidate: CellReport | None) -> tuple[Change, str]:
    if base is None or candidate is None:
        return Change.UNPROVEN, f"only the {'candidate' if base is None else 'base'} has this cell"
    if base.verdict == "not_run" and candidate.verdict == "not_run":
        return Change.SAME, ""
    if base.plan != candidate.plan:
        return Change.UNPROVEN, "the plans of that id differ: other subjects, another seed or another version drew them"
    for name, cell in (("base", base), ("candidate", candidate)):
        if cell.verdict in ("UNKNOWN", "not_run"):
            return Change.UNPROVEN, f"{name} is {cell.verdict}: {cell.reason or 'it proved nothing'}"
    broken = failed_checks(candidate) - failed_checks(base)
    if broken:
        return Change.REGRESSED, f"{', '.join(sorted(broken))}: {_first_failure(candidate, broken)}"
    if candidate.verdict == "FAIL":
        return Change.STILL_BROKEN, _first_failure(candidate, failed_checks(candidate))
    if base.verdict == "FAIL":
        return Change.FIXED, f"was: {_first_failure(base, failed_checks(base))}"
    if base.tells or candidate.tells:
        return Change.SAME, _told_otherwise(base, candidate)
    return _compare_passed(base, candidate)


def _compare_passed(base: CellReport, candidate: CellReport) -> tuple[Change, str]:
    """Both hold every must: the outcome first, then warnings, then what it cost."""
    if ranks(base) != ranks(candidate):
        poorer = any(now < was for was, now in zip(ranks(base), ranks(candidate), strict=True))
        return Change.WEAKER if poorer else Change.STRONGER, f"outcome {base.outcome} is now {candidate.outcome}"
    if base.warnings != candidate.warnings:
        change = Change.STRONGER if candidate.warnings < base.warnings else Change.WEAKER
        return change, f"{base.warnings} warnings are now {candidate.warnings}"
    if base.attempts is not None and candidate.attempts is not None and base.attempts != candidate.attempts:
        change = Change.STRONGER if candidate.attempts < base.attempts else Change.WEAKER
        return change, f"{base.attempts} attempts are now {candidate.attempts} for the same outcome"
    return Change.SAME, ""


def ranks(cell: CellReport) -> tuple[int, ...]:
    """How much the caller of each operation can do with its outcome: a result, then an honest "not executed", then
    not knowing. One operation that is worse off makes the cell weaker, whatever became of the others.
    """
    return tuple({"ok": 2, "failed": 1}.get(outcome, 0) for outcome in cell.outcome.split(", "))


def failed_checks(cell: CellReport) -> frozenset[str]:
    """The musts that the cell breaks."""
    return frozenset(f.check for f in cell.findings if f.kind == "must" and f.verdict == "FAIL")


def _first_failure(cell: CellReport, checks: frozenset[str]) -> str:
    return next((f.says for f in cell.findings if f.check in checks and f.verdict == "FAIL"), "")


def _told_otherwise(base: CellReport, candidate: CellReport) -> str:
    """What differs in a cell that only tells: listed, never counted as better or worse."""
    told = [(cell.attempts, cell.outcome, cell.status) for cell in (base, candidate)]
    if base.varies or candidate.varies or told[0] == told[1]:
        return ""
    return f"tells otherwise: {_in_words(base)}; now {_in_words(candidate)}"


def _in_words(cell: CellReport) -> str:
    return f"{cell.attempts} attempts, {cell.outcome} {cell.status or ''}".rstrip()
