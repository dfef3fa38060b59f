"""Reports as literals: the smallest that a rule of a sign-off, or a line of output, needs."""

from typing import Any

from signoff.report import CellReport, FindingReport, Report, SubjectReport

RETRIED = FindingReport(check="safe-retry", kind="must", verdict="FAIL", says="was sent again")
TWICE = FindingReport(check="at-most-once", kind="must", verdict="FAIL", says="was executed twice")
DEAD = FindingReport(check="survives", kind="must", verdict="FAIL", says="died, and again alone")
LOST = FindingReport(check="safe-retry-made", kind="should", verdict="FAIL", says="was not sent again")
OPEN = FindingReport(check="at-most-once", kind="must", verdict="UNKNOWN", says="nobody counted")
NOT_COUNTED = FindingReport(check="safe-retry-made", kind="should", verdict="UNKNOWN", says="nobody counted")
TOLD = FindingReport(check="tells", kind="tells", verdict="PASS", says="sent twice")


def cell(**changes: Any) -> CellReport:
    """One cell that passes: sent once, executed once, answered."""
    facts: dict[str, Any] = {
        "id": "wait/reset-after/first",
        "fault": "reset-after",
        "phase": "wait",
        "evidence": "reset",
        "class_": "AMBIGUOUS",
        "dimensions": {},
        "attempts": 1,
        "accepted": 1,
        "executions": 1,
        "replied": 1,
        "outcome": "ok",
        "status": 200,
        "delay_ms": 1.0,
        "verdict": "PASS",
        "plan": {},
    }
    return CellReport(**{**facts, **changes})


def broken(*findings: FindingReport, **changes: Any) -> CellReport:
    """One cell that fails."""
    return cell(verdict="FAIL", findings=findings, **changes)


def literal_report(*cells: CellReport) -> Report:
    """A report of these cells."""
    subject = SubjectReport(name="mine", version="1", promises="answering")
    return Report(
        tool="retryproof 0",
        subject=subject,
        seed=0,
        depth="full",
        strict=False,
        verdict="PASS",
        counts={},
        histogram={},
        cells=cells,
    )
