"""junit.xml of a check and of a sign-off, as CI systems read it: one test case a cell.

failure: a must is broken, or the cell blocks. error: it proved nothing. skipped: it was not run, is known or excused.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from signoff.allowances import needs_excuse
from signoff.cell_words import because, broken, lived
from signoff.report import CellReport, CellVerdict, Report
from signoff.sign_off import CellDifference, SignOff
from suites.printable import on_one_line, printable, shortened

_Result = Literal["", "failure", "error", "skipped"]
_COUNTED: dict[_Result, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_MOST = 2_000  # characters of one text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One test case. kind: what kind of failure, error or skip; message: in a line; text: all of it."""

    group: str
    name: str
    seconds: float = 0.0
    result: _Result = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_of_report(report: Report) -> bytes:
    """Of one examination; a part of one has an error that says why it is not whole."""
    named = report.named or report.subject.name
    cases = [_of_cell(cell) for cell in report.cells]
    facts = {"verdict": report.verdict, "depth": report.depth, "seed": str(report.seed), "tool": report.tool}
    return _document(named, facts, _verdict(cases, report.verdict, report.partial, "nothing that may count was proved"))


def junit_of_sign_off(sign_off: SignOff) -> bytes:
    """Of base against candidate: what blocks is a failure."""
    named = f"{sign_off.base.named} -> {sign_off.candidate.named}"
    cases = [_of_difference(each, sign_off) for each in sign_off.cells]
    facts = {"verdict": sign_off.verdict, "depth": sign_off.depth, "seed": str(sign_off.seed), "tool": sign_off.tool}
    return _document(named, facts, _verdict(cases, sign_off.verdict, sign_off.partial, "; ".join(sign_off.matter)))


_RESULTS: dict[CellVerdict, _Result] = {"PASS": "", "FAIL": "failure", "UNKNOWN": "error", "not_run": "skipped"}


def _of_cell(cell: CellReport) -> _Case:
    known = cell.known and cell.verdict == "FAIL"
    return _Case(
        group=cell.phase,
        name=cell.id,
        seconds=cell.delay_ms / 1000,
        result="skipped" if known else _RESULTS[cell.verdict],
        kind="known" if known else cell.verdict,
        message=f"{'known from the baseline: ' if known else ''}{because(cell)}",
        text="\n".join((lived(cell), *_findings(cell))),
    )


def _of_difference(each: CellDifference, sign_off: SignOff) -> _Case:
    cell = each.candidate or each.base
    wanting = needs_excuse(each, strict=sign_off.strict)
    result: _Result = ("error" if each.change == "unproven" else "failure") if wanting else ""
    message = each.says
    if wanting and each.excused is not None:
        by = "".join(f" by {one.owner}: {one.reason}" for one in sign_off.allowances[each.excused :][:1])
        result, message = "skipped", f"excused{by}; {each.says}"
    return _Case(
        group="" if cell is None else cell.phase,
        name=each.id,
        seconds=0.0 if each.candidate is None else each.candidate.delay_ms / 1000,
        result=result,
        kind=each.change,
        message=message,
        text=f"{each.change}: base {lived(each.base)}; candidate {lived(each.candidate)}\n{each.says}",
    )


def _verdict(cases: list[_Case], verdict: str, partial: str, says: str) -> list[_Case]:
    """With one more: an error where it is not whole, or where no case shows why the verdict is no good one."""
    if partial:
        return [*cases, _error("whole", "partial", partial)]
    shown = any(case.result in ("failure", "error") for case in cases)
    return cases if shown or verdict in ("PASS", "MAY SHIP") else [*cases, _error("verdict", verdict, says)]


def _error(name: str, kind: str, says: str) -> _Case:
    return _Case(group="retryproof", name=name, result="error", kind=kind, message=says, text=says)


def _findings(cell: CellReport) -> Iterable[str]:
    return (f"{each.check} ({each.kind}): {each.says}" for each in broken(cell))


def _document(named: str, facts: dict[str, str], cases: list[_Case]) -> bytes:
    found = Counter(case.result for case in cases)
    counts = {word: str(found[result]) for result, word in _COUNTED.items()}
    shared = {"name": _line(named), "tests": str(len(cases)), **counts, "time": f"{sum(c.seconds for c in cases):.3f}"}
    root = ElementTree.Element("testsuites", shared)
    suite = ElementTree.SubElement(root, "testsuite", shared)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _line(value)})
    for case in cases:
        _add(suite, named, case)
    ElementTree.indent(root, " ")
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def _add(suite: ElementTree.Element, named: str, case: _Case) -> None:
    attributes = {"classname": _line(f"{named}.{case.group}"), "name": _line(case.name), "time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(suite, "testcase", attributes)
    if case.result:
        said = {"message": _line(case.message), "type": _line(case.kind)}
        ElementTree.SubElement(element, case.result, said).text = _text(case.text)
    else:
        ElementTree.SubElement(element, "system-out").text = _text(case.text)


def _line(text: str) -> str:
    return on_one_line(shortened(text, _MOST))


def _text(text: str) -> str:
    """XML 1.0 s2.2: no control character but these can be in it, not even as a reference."""
    return printable(shortened(text, _MOST))
