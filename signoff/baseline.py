"""A baseline: an earlier report whose failures are known, for who starts with a forwarder that fails."""

from collections.abc import Mapping

import msgspec

from signoff.report import Baseline, CellReport, OverallVerdict, Report
from signoff.rules import failed_checks, open_checks


def against(report: Report, baseline: Report, path: str) -> Report:
    """The report with every failure marked that is known from the baseline; its verdict is that of all other cells.

    Known is a cell that breaks no must which it did not break there, under the same plan. path: of the baseline.
    """
    before = {cell.id: cell for cell in baseline.cells}
    cells = tuple(
        msgspec.structs.replace(cell, known=True) if _is_known(cell, before.get(cell.id)) else cell
        for cell in report.cells
    )
    failed = [cell.id for cell in baseline.cells if cell.verdict == "FAIL"]
    now = {cell.id: cell.verdict for cell in cells}
    mended = tuple(id_ for id_ in failed if now.get(id_) == "PASS")
    return msgspec.structs.replace(
        report,
        verdict=_verdict(cells, before, report.partial),
        cells=cells,
        baseline=Baseline(
            report=path,
            subject=f"{baseline.subject.name} {baseline.subject.version}".rstrip(),
            tool=baseline.tool,
            known=sum(cell.known for cell in cells),
            mended=mended,
        ),
    )


def _is_known(cell: CellReport, before: CellReport | None) -> bool:
    if before is None or cell.verdict != "FAIL" or before.verdict != "FAIL" or cell.plan != before.plan:
        return False
    return failed_checks(cell) <= failed_checks(before)


def _leaves_open(cell: CellReport, before: CellReport) -> bool:
    """Beside what is known, it does not show whether a must holds which may have held there."""
    return bool(open_checks(cell) - failed_checks(before))


def _verdict(cells: tuple[CellReport, ...], before: Mapping[str, CellReport], partial: str) -> OverallVerdict:
    """What is known to fail was judged, and is neither a reason to fail nor one to prove nothing."""
    verdicts = {cell.verdict for cell in cells if not cell.known}
    if "FAIL" in verdicts:
        return "FAIL"
    known = [cell for cell in cells if cell.known]
    unproved = "UNKNOWN" in verdicts or any(_leaves_open(cell, before[cell.id]) for cell in known)
    return "PASS" if ("PASS" in verdicts or known) and not unproved and not partial else "UNKNOWN"
