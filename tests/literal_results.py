"""Published results as literals: the smallest that a rule of a survey, or a line of its pages, needs."""

import msgspec

from signoff.published import Published, published
from signoff.report import CellReport
from tests.literal_reports import LOST, RETRIED, TOLD, broken, cell, literal_report

BROKEN = "status/503-after/first"
OF_EACH = (
    cell(id="none/healthy/first", fault="healthy", phase="none"),
    broken(RETRIED, id=BROKEN, phase="status", attempts=2, executions=2),
    cell(id="wait/fin-before/first", warnings=1, findings=(LOST,)),
    cell(id="accept/accept-reset/first-of-two", phase="accept", tells=True, findings=(TOLD,)),
    cell(id="accept/accept-reset/every-upstream", phase="accept", tells=True, varies=True, findings=(TOLD,)),
    cell(id="wait/reset-after/first", verdict="UNKNOWN", reason="this machine stalled"),
    cell(id="wait/reset-after/reused", verdict="not_run", reason="it keeps no connections"),
)  # a cell for each mark


def result(*cells: CellReport, subject: str = "mine", version: str = "mine 1.2") -> Published:
    """What is published of these cells."""
    report = literal_report(*cells)
    who = msgspec.structs.replace(report.subject, version=version)
    report = msgspec.structs.replace(report, named=subject, subject=who)
    return published(report, kind="forwarders", values={"b": "2", "a": "1"}, configuration="c", plans="p")
