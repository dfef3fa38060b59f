"""report.md of a check: what a comment on a pull request holds. The worst comes first, and is cut last."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from signoff.cell_words import because, broken, counted, did, lived, shows_most
from signoff.clipping import Section, clipped
from signoff.decisions import decisions_of
from signoff.markdown_parts import MARKER, SHOWN_WHOLE, SIGNS, broken_cell, paragraph, table
from signoff.marked_text import code, escaped
from signoff.report import CellReport, Report
from signoff.rules import failed_checks
from signoff.sign_off import Decision

_WHERE = "report.json"


def markdown_of_report(report: Report) -> bytes:
    """The comment of one examination, in UTF-8."""
    return clipped(_sections(report)).encode()


def _sections(report: Report) -> Iterator[Section]:
    yield _headline(report)
    failed = [cell for cell in report.cells if cell.verdict == "FAIL" and not cell.known]
    for place, cell in enumerate(_one_of_each_kind(failed)):
        says = ", ".join(sorted(failed_checks(cell)))
        yield broken_cell(cell, says, subject=report.named, plans="plans", where=_WHERE, first=not place)
    yield from _cells("failed", failed)
    yield from _cells("unknown", [cell for cell in report.cells if cell.verdict == "UNKNOWN"])
    yield from _cells("with warnings", [cell for cell in report.cells if cell.verdict == "PASS" and cell.warnings])
    yield from _cells("known to fail", [cell for cell in report.cells if cell.known])
    yield from _decisions(report)
    yield from _unreached(report)
    yield paragraph("the last line", f"<sub>{escaped(report.tool)}; cell by cell in report.html and report.json</sub>")


def _headline(report: Report) -> Section:
    subject, counts = report.subject, report.counts
    facts = f"{subject.version or 'version unknown'}, promises {subject.promises}; depth {report.depth}"
    cells = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counts.items())
    lines = [MARKER, f"## {SIGNS[report.verdict]} {report.verdict}: {escaped(subject.name)}", ""]
    lines += [f"{escaped(facts)}, seed {report.seed}: {escaped(cells)}"]
    if report.partial:
        lines += ["", f"**Not whole: {escaped(report.partial)}.** What was not looked at may fail."]
    if report.baseline is not None and report.baseline.mended:
        lines += ["", f"{counted(len(report.baseline.mended), 'failure')} of the baseline fails no more."]
    return paragraph("the verdict", *lines)


def _one_of_each_kind(cells: Iterable[CellReport]) -> list[CellReport]:
    """What shows most before the others."""
    kinds: dict[frozenset[str], CellReport] = {}
    for cell in sorted(cells, key=shows_most):
        kinds.setdefault(failed_checks(cell), cell)
    return list(kinds.values())[:SHOWN_WHOLE]


def _cells(word: str, cells: Sequence[CellReport]) -> Iterator[Section]:
    if cells:
        columns: dict[str, Callable[[CellReport], str]] = {
            "cell": lambda cell: code(cell.id),
            "check": lambda cell: escaped(", ".join(dict.fromkeys(each.check for each in broken(cell)))),
            "what became of it": lambda cell: escaped(lived(cell)),
            "because": lambda cell: escaped(because(cell), 160),
        }
        yield table(f"{counted(len(cells), 'cell')} {word}", columns, cells, where=_WHERE)


def _decisions(report: Report) -> Iterator[Section]:
    decisions = decisions_of(report, report)
    if decisions:
        columns: dict[str, Callable[[Decision], str]] = {
            "the forwarder saw": lambda each: escaped(each.evidence),
            "the work was": lambda each: "done" if each.truth == "executed" else "not done",
            "class": lambda each: escaped(each.class_),
            "what it does": lambda each: escaped(did(each.base)),
        }
        yield table("what it does with which evidence", columns, decisions, where=_WHERE)


def _unreached(report: Report) -> Iterator[Section]:
    reasons = Counter(cell.reason for cell in report.cells if cell.verdict == "not_run")
    if reasons:
        columns: dict[str, Callable[[tuple[str, int]], str]] = {
            "cells": lambda each: str(each[1]),
            "because": lambda each: escaped(each[0]),
        }
        name = f"{counted(reasons.total(), 'cell')} not run"
        yield table(name, columns, list(reasons.items()), where=_WHERE)
