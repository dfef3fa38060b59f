"""junit.xml, as a parser of such files reads it: one case a cell, and what blocks is a failure."""

import datetime as dt
from xml.etree import ElementTree

import junitparser
import msgspec
import pytest

from signoff.junit import junit_of_report, junit_of_sign_off
from signoff.report import Report
from signoff.sign_off import Allowance, SignOff
from signoff.signing_off import sign_off_of
from tests.literal_reports import LOST, RETRIED, TWICE, broken, cell, literal_report

HOSTILE = "]]></failure>& <a> \x00\x07\x1b[31m \ufffe\ud800 \u202e \U0001f600 \t\n\r"
FIRST = cell(id="a/held/x")
UNKNOWN = cell(id="b/unknown/x", verdict="UNKNOWN", reason="it never struck")
UNRUN = cell(id="c/unrun/x", verdict="not_run", reason="needs root")
WARNS = cell(id="d/warns/x", warnings=1, findings=(LOST,))


def suite_of(document: bytes) -> dict[str, tuple[str, str]]:
    """The result and the message of each case, by name; the counts are those of the cases."""
    (suite,) = junitparser.JUnitXml.fromstring(document)
    found: dict[str, tuple[str, str]] = {}
    for case in suite:
        assert len(case.result) < 2
        found[case.name] = next(((type(each).__name__, each.message) for each in case.result), ("", ""))
    results = [result for result, _ in found.values()]
    counts = (suite.tests, suite.failures, suite.errors, suite.skipped)
    assert counts == (len(found), *map(results.count, ("Failure", "Error", "Skipped")))
    return found


def signed_off(base: Report, candidate: Report, *, strict: bool = False) -> SignOff:
    """The sign-off of both."""
    paths = ("base/report.json", "candidate/report.json")
    return sign_off_of(base, candidate, paths=paths, strict=strict, today=dt.date(2026, 11, 30))


def test_each_cell_of_a_check_is_a_case() -> None:
    known = broken(TWICE, id="e/known/x", known=True)
    report = literal_report(FIRST, broken(RETRIED), UNKNOWN, UNRUN, WARNS, known)
    assert suite_of(junit_of_report(report)) == {
        "a/held/x": ("", ""),
        "wait/reset-after/first": ("Failure", "was sent again"),
        "b/unknown/x": ("Error", "it never struck"),
        "c/unrun/x": ("Skipped", "needs root"),
        "d/warns/x": ("", ""),
        "e/known/x": ("Skipped", "known from the baseline: was executed twice"),
    }


@pytest.mark.parametrize(("strict", "still"), [(False, ""), (True, "Failure")])
def test_of_a_sign_off_what_blocks_fails(strict: bool, still: str) -> None:
    """What is unproven is an error; what is weaker, or was no better before, is neither unless that blocks too."""
    base = literal_report(cell(), FIRST, UNKNOWN, cell(id=WARNS.id), broken(TWICE, id="f/still/x"))
    candidate = literal_report(broken(RETRIED), FIRST, cell(id=UNKNOWN.id), WARNS, broken(TWICE, id="f/still/x"))
    found = suite_of(junit_of_sign_off(signed_off(base, candidate, strict=strict)))
    assert {name: result for name, (result, _) in found.items()} == {
        "wait/reset-after/first": "Failure",
        "a/held/x": "",
        "b/unknown/x": "Error",
        "d/warns/x": "",
        "f/still/x": still,
    }


def test_what_is_excused_is_skipped_with_who_excused_it() -> None:
    made = signed_off(literal_report(cell()), literal_report(broken(RETRIED)))
    allowed = Allowance(cells="*", reason="known", owner="me", expires="2027-01-01", state="used", excused=1)
    excused = msgspec.structs.replace(made.cells[0], excused=0)
    document = junit_of_sign_off(msgspec.structs.replace(made, cells=(excused,), allowances=(allowed,)))
    assert suite_of(document)[excused.id] == ("Skipped", "excused by me: known; safe-retry: was sent again")


def test_what_is_not_whole_has_an_error() -> None:
    report = msgspec.structs.replace(literal_report(FIRST), partial="interrupted")
    assert suite_of(junit_of_report(report))["whole"] == ("Error", "interrupted")
    assert suite_of(junit_of_sign_off(signed_off(report, report)))["whole"][0] == "Error"


def test_a_verdict_that_no_case_shows_is_an_error() -> None:
    """Who reads this file alone would see a green one: nothing was run, or the candidate promises less."""
    unrun = msgspec.structs.replace(literal_report(UNRUN), verdict="UNKNOWN")
    assert suite_of(junit_of_report(unrun))["verdict"] == ("Error", "nothing that may count was proved")
    base = literal_report(FIRST)
    less = msgspec.structs.replace(base, subject=msgspec.structs.replace(base.subject, promises="transparent"))
    assert suite_of(junit_of_sign_off(signed_off(base, less)))["verdict"][1].startswith("the candidate promises 'trans")
    assert "verdict" not in suite_of(junit_of_sign_off(signed_off(base, base)))
    assert "verdict" not in suite_of(junit_of_sign_off(signed_off(base, literal_report(broken(TWICE, id=FIRST.id)))))


def test_it_is_xml_whatever_is_in_a_text() -> None:
    """Control characters are spelled out; nothing ends an element."""
    hostile = msgspec.structs.replace(RETRIED, check=HOSTILE, says=HOSTILE)
    cells = (
        broken(hostile, id=HOSTILE, phase=HOSTILE, outcome=HOSTILE),
        cell(id="n", verdict="UNKNOWN", reason=HOSTILE),
    )
    report = msgspec.structs.replace(literal_report(*cells), named=HOSTILE, partial=HOSTILE)
    for document in (junit_of_report(report), junit_of_sign_off(signed_off(literal_report(), report))):
        cases = ElementTree.fromstring(document).findall("testsuite/testcase")
        assert [len(list(case)) for case in cases] == [1, 1, 1]
        assert "\\x00\\x07\\x1b[31m \\ufffe\\ud800 \\u202e" in cases[0].attrib["name"]
