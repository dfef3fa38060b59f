"""The rules of a sign-off's judgement: what the candidate does to one cell, held against the base. Pure functions."""

from collections.abc import Callable
from enum import StrEnum

from signoff.report import CellReport
from suites.checks.safe_retry_made import CHECK as SAFE_RETRY_MADE
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


def neither_ran(base: CellReport, candidate: CellReport) -> Said | None:
    """Nothing was looked at, on either side alike; a base that was examined with --strict calls that UNKNOWN."""
    base_too = base.verdict == "not_run" or (base.verdict == "UNKNOWN" and open_checks(base) == {REACH})
    return (Change.SAME, "") if candidate.verdict == "not_run" and base_too else None


def other_plans(base: CellReport, candidate: CellReport) -> Said | None:
    """What was lived through is not the same, or not by as many operations."""
    if base.plan != candidate.plan:
        why = "the plans of that id differ: other subjects, another seed or another version drew them"
        return Change.UNPROVEN, f"{why}{breaks(candidate)}"
    if len(ranks(base)) != len(ranks(candidate)) and "not_run" not in (base.verdict, candidate.verdict):
        return Change.UNPROVEN, f"outcomes {base.outcome!r} and {candidate.outcome!r} are not of as many operations"
    return None


def unproven(base: CellReport, candidate: CellReport) -> Said | None:
    """A side has proved nothing: whether a must held, or holds, nobody knows."""
    for name, cell in (("base", base), ("candidate", candidate)):
        if cell.verdict in ("UNKNOWN", "not_run"):
            verdict = "was not run" if cell.verdict == "not_run" else "is UNKNOWN"
            return Change.UNPROVEN, f"{name} {verdict}: {cell.reason or 'it proved nothing'}{breaks(candidate)}"
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
        return Change.UNPROVEN, f"candidate leaves open {', '.join(nobody_knows)}{breaks(candidate)}"
    nobody_knew = sorted(open_checks(base) & failed_checks(candidate))
    if nobody_knew:
        return Change.UNPROVEN, f"base leaves open {', '.join(nobody_knew)}{breaks(candidate)}"
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
    change = Change.WEAKER if poorer else Change.STRONGER
    return change, f"{_safe_retry(base, candidate)}outcome {base.outcome} is now {candidate.outcome}"


def warnings(base: CellReport, candidate: CellReport) -> Said | None:
    """Shoulds: a safe retry that is not made, a poor error. Where a side leaves one open, nobody can tell."""
    if base.warnings == candidate.warnings or _open_shoulds(base) or _open_shoulds(candidate):
        return None
    fewer = candidate.warnings < base.warnings
    says = (
        f"{'fewer' if fewer else 'more'} warnings: {base.warnings}, now {candidate.warnings}{_warned(base, candidate)}"
    )
    return (Change.STRONGER if fewer else Change.WEAKER), says


def attempts(base: CellReport, candidate: CellReport) -> Said | None:
    """What the same outcome costs, where it was counted."""
    if base.attempts is None or candidate.attempts is None or base.attempts == candidate.attempts:
        return None
    fewer = candidate.attempts < base.attempts
    says = f"{'fewer' if fewer else 'more'} attempts for the same outcome: {base.attempts}, now {candidate.attempts}"
    return (Change.STRONGER if fewer else Change.WEAKER), says


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


def _safe_retry(base: CellReport, candidate: CellReport) -> str:
    """What the outcome comes of, where only one side makes the safe retry that would have succeeded."""
    missed, misses = (SAFE_RETRY_MADE.name in _failed_shoulds(side) for side in (base, candidate))
    if missed == misses:
        return ""
    return "a safe retry is made that was not: " if missed else "a safe retry is lost: "


def _failed_shoulds(cell: CellReport) -> frozenset[str]:
    return frozenset(f.check for f in cell.findings if f.kind == "should" and f.verdict == "FAIL")


def breaks(candidate: CellReport | None) -> str:
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
