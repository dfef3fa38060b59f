"""What a person sees: a progress bar and tables on a terminal, plain lines where there is none."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from signoff.comparison import Change, Comparison
from signoff.report import CellReport, Report
from signoff.timeline import Line

STYLES = {"PASS": "green", "FAIL": "bold red", "UNKNOWN": "yellow", "not_run": "dim"}
PLAIN_WIDTH = 160  # columns where there is no terminal to ask


class Ticker(Protocol):
    """Hears of each step that is done."""

    def __call__(self) -> None:
        """One more."""


def console(*, quiet: bool = False) -> Console:
    """Standard output as rich sees it; wide and without colour where it is no terminal."""
    plain = Console(quiet=quiet, highlight=False, soft_wrap=False)
    return plain if plain.is_terminal else Console(quiet=quiet, highlight=False, width=PLAIN_WIDTH, no_color=True)


@contextmanager
def progress(out: Console, what: str, total: int) -> Iterator[Ticker]:
    """A bar while something goes on; nothing where there is no terminal."""
    if not out.is_terminal or out.quiet:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def cells_table(cells: Iterable[CellReport], title: str) -> Table:
    """One row a cell."""
    table = Table(title=title, title_justify="left", expand=False)
    for name in ("cell", "class", "attempts", "executions", "outcome", "status", "verdict", "says"):
        table.add_column(name, overflow="fold")
    for cell in cells:
        table.add_row(
            cell.id,
            cell.class_,
            "?" if cell.attempts is None else str(cell.attempts),
            str(cell.executions),
            cell.outcome,
            "" if cell.status is None else str(cell.status),
            Text(cell.verdict, style=STYLES[cell.verdict]),
            _says(cell),
        )
    return table


def _says(cell: CellReport) -> str:
    if cell.verdict == "not_run":
        return cell.reason
    broken = [finding.check for finding in cell.findings if finding.verdict != "PASS" and finding.kind == "must"]
    warned = [f"(should) {f.check}" for f in cell.findings if f.kind == "should" and f.verdict == "FAIL"]
    return ", ".join(dict.fromkeys(broken + warned))


def histogram_table(report: Report) -> Table:
    """Fault by fault: planned, struck, judged."""
    table = Table(title="faults planned, struck and judged", title_justify="left")
    for name in ("fault", "planned", "struck", "judged"):
        table.add_column(name, justify="left" if name == "fault" else "right")
    for fault, count in report.histogram.items():
        table.add_row(fault, str(count.planned), str(count.struck), str(count.judged))
    return table


def timeline_table(lines: Iterable[Line]) -> Table:
    """Caller and router, side by side."""
    table = Table(box=None, pad_edge=False)
    for name, justify in (("ms", "right"), ("caller", "left"), ("entry", "right"), ("router", "left")):
        table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    for line in lines:
        table.add_row(f"{line.at_ms:.1f}", line.caller, "" if line.seq is None else str(line.seq), line.router)
    return table


def comparison_table(comparison: Comparison) -> Table:
    """The cells that differ, base against candidate."""
    table = Table(title="cells that differ", title_justify="left")
    for name in ("cell", "change", "base", "candidate", "says"):
        table.add_column(name, overflow="fold")
    for cell in comparison.differing():
        style = {Change.REGRESSED: "bold red", Change.FIXED: "green", Change.UNPROVEN: "yellow"}.get(cell.change, "")
        table.add_row(cell.id, Text(cell.change, style=style), _side(cell.base), _side(cell.candidate), cell.says)
    return table


def _side(cell: CellReport | None) -> str:
    if cell is None:
        return "-"
    attempts = "?" if cell.attempts is None else cell.attempts
    return f"{cell.verdict}: {attempts} sent, {cell.executions} run, {cell.outcome}"
