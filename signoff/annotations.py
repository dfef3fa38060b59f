"""What a check or a sign-off says beside the changes in GitHub: workflow commands, at most as many as it shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from signoff.allowances import needs_excuse
from signoff.cell_words import because, lived
from signoff.report import Report
from signoff.sign_off import SignOff
from suites.printable import on_one_line, shortened

SHOWN = 10  # of each level in one step of a job; GitHub drops the others
_MOST = 1_000  # characters of one
Level = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One of them; title and text may hold anything."""

    level: Level
    title: str
    says: str

    def line(self) -> str:
        """As a workflow command: `%` and line ends are escaped, and in a property also what ends it."""
        title = _escaped(self.title).replace(":", "%3A").replace(",", "%2C")
        return f"::{self.level} title={title}::{_escaped(self.says)}"


def _escaped(text: str) -> str:
    line = on_one_line(shortened(text, _MOST))
    return line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def annotations_of_report(report: Report) -> Iterator[Annotation]:
    """The verdict, then what fails, what proved nothing and what warns."""
    named = report.named or report.subject.name
    counts = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in report.counts.items())
    yield Annotation(level="notice", title=f"{report.verdict}: {named}", says=counts)
    if report.partial:
        yield Annotation(level="error", title=f"not whole: {named}", says=report.partial)
    for cell in report.cells:
        level: Level | None = None
        if cell.verdict == "FAIL":
            level = "warning" if cell.known else "error"
        elif cell.verdict == "UNKNOWN" or (cell.verdict == "PASS" and cell.warnings):
            level = "warning"
        if level is not None:
            title = f"{'known: ' if cell.known else ''}{cell.id} of {named}"
            yield Annotation(level=level, title=title, says=f"{lived(cell)}; {because(cell)}")


def annotations_of_sign_off(sign_off: SignOff) -> Iterator[Annotation]:
    """The verdict with what matters, then what blocks, then what is unproven or weaker and not excused."""
    sides = f"{sign_off.base.named} -> {sign_off.candidate.named}"
    yield Annotation(level="notice", title=f"{sign_off.verdict}: {sides}", says="; ".join(sign_off.matter))
    if sign_off.partial:
        yield Annotation(level="error", title=f"not whole: {sides}", says=sign_off.partial)
    for each in sign_off.cells:
        if each.excused is None and each.change in ("regressed", "unproven", "still broken", "weaker"):
            blocks = each.change != "unproven" and needs_excuse(each, strict=sign_off.strict)
            says = f"{lived(each.base)} -> {lived(each.candidate)}; {each.says}"
            title = f"{each.change}: {each.id}"
            yield Annotation(level="error" if blocks else "warning", title=title, says=says)
    for allowance in sign_off.allowances:
        if allowance.state in ("unused", "expired"):
            says = f"{allowance.cells!r}, of {allowance.owner}: {allowance.reason}"
            yield Annotation(level="warning", title=f"allowance is {allowance.state}", says=says)


def lines_of(annotations: Iterable[Annotation]) -> Iterator[str]:
    """As workflow commands: of each level at most SHOWN, of which the last says how many more there are."""
    found: dict[Level, list[Annotation]] = {"error": [], "warning": [], "notice": []}
    for annotation in annotations:
        found[annotation.level].append(annotation)
    for level, all_of_it in found.items():
        shown = all_of_it if len(all_of_it) <= SHOWN else all_of_it[: SHOWN - 1]
        yield from (annotation.line() for annotation in shown)
        if len(shown) < len(all_of_it):
            rest = len(all_of_it) - len(shown)
            yield Annotation(level=level, title=f"{rest} more", says="in report.md and report.html").line()
