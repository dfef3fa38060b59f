"""A check that is held against a baseline: what failed there does not fail it, and anything else does."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from signoff import baseline
from signoff.baseline import against
from signoff.report import CellReport, Report
from tests.command_process import Place
from tests.literal_reports import OPEN, RETRIED, TWICE, broken, cell, literal_report

PASSED = cell()
UNKNOWN = cell(verdict="UNKNOWN")

ROWS = [
    ("it fails as it did", broken(RETRIED), broken(RETRIED), True, "PASS"),
    ("it fails in fewer ways", broken(RETRIED, TWICE), broken(TWICE), True, "PASS"),
    ("it fails in one more way", broken(RETRIED), broken(RETRIED, TWICE), False, "FAIL"),
    ("it fails in another way", broken(RETRIED), broken(TWICE), False, "FAIL"),
    ("it fails now", PASSED, broken(TWICE), False, "FAIL"),
    ("it fails under another plan", broken(TWICE), broken(TWICE, plan={"schema": 1}), False, "FAIL"),
    ("it fails as it did, and what held is open", broken(RETRIED), broken(RETRIED, OPEN), True, "UNKNOWN"),
    ("it fails as it did, and is open as it was", broken(RETRIED, OPEN), broken(RETRIED, OPEN), True, "UNKNOWN"),
    ("what was broken is open now", broken(RETRIED, TWICE), broken(RETRIED, OPEN), True, "PASS"),
    ("it proved nothing then, and fails now", UNKNOWN, broken(TWICE), False, "FAIL"),
    ("it failed, and proves nothing now", broken(TWICE), UNKNOWN, False, "UNKNOWN"),
    ("it failed, and holds now", broken(TWICE), PASSED, False, "PASS"),
]


def held(report: Report, before: Report) -> Report:
    return against(report, before, "before/report.json")


@pytest.mark.parametrize(("before", "now", "known", "verdict"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_every_rule_of_a_baseline(before: CellReport, now: CellReport, known: bool, verdict: str) -> None:
    found = held(literal_report(now), literal_report(before))
    assert (found.cells[0].known, found.verdict) == (known, verdict)
    assert found.baseline is not None
    assert found.baseline.known == known


def test_a_cell_that_the_baseline_lacks_fails() -> None:
    found = held(literal_report(broken(TWICE, id="new"), cell(id="old")), literal_report(broken(TWICE, id="old")))
    assert (found.verdict, found.baseline and found.baseline.mended) == ("FAIL", ("old",))


def test_what_is_not_whole_is_no_pass() -> None:
    report = literal_report(broken(TWICE))
    partial = type(report)(**{**{n: getattr(report, n) for n in report.__struct_fields__}, "partial": "interrupted"})
    assert held(partial, report).verdict == "UNKNOWN"


def test_without_the_rule_every_failure_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the rows above would fail."""
    monkeypatch.setattr(baseline, "_is_known", lambda *_: False)
    wrong = [
        says
        for says, before, now, _, verdict in ROWS
        if held(literal_report(now), literal_report(before)).verdict != verdict
    ]
    assert wrong == [row[0] for row in ROWS if row[3]]


CELLS = ("--only", "status/50[03]-*/first", "--out", "out")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(path=tmp_path)


def report_of(place: Place) -> tuple[str, dict[str, Any]]:
    """The newest."""
    path = max((place.path / "out").glob("*/report.json"))
    return os.path.relpath(path, place.path), json.loads(path.read_text())


def test_a_failing_forwarder_is_checked_for_what_fails_anew(place: Place) -> None:
    """The same failures pass, are listed as known and shown no further; those that the baseline lacks fail."""
    assert place.run("check", "reference:blanket-5xx", *CELLS, "--quiet").code == 1
    path, before = report_of(place)
    same = place.run("check", "reference:blanket-5xx", *CELLS, "--baseline", path)
    assert (same.code, same.err) == (0, "")
    assert same.out.startswith("PASS reference:blanket-5xx")
    assert f" {before['counts']['FAIL']} failed ({before['counts']['FAIL']} known)" in same.out
    assert "\nKNOWN TO FAIL at-most-once, safe-retry: " in same.out
    assert "replay " not in same.out
    _, found = report_of(place)
    assert [cell["known"] for cell in found["cells"]] == [cell["verdict"] == "FAIL" for cell in before["cells"]]
    before["cells"] = [cell for cell in before["cells"] if "503" not in cell["id"]]
    (place.path / path).write_text(json.dumps(before))
    anew = place.run("check", "reference:blanket-5xx", *CELLS, "--baseline", path)
    assert anew.code == 1
    assert "FAIL status/503-after/first" in anew.out
    mended = place.run("check", "reference:safe", *CELLS, "--baseline", path)
    assert mended.code == 0
    assert "passes now: status/500-after/first" in mended.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reference", "--baseline", "none.json"), "cannot read --baseline 'none.json'"),
        (("reference", "--baseline", "r.json"), "this version of retryproof reads 1"),
        (("reference", "nginx", "--baseline", "r.json"), "with 2 subjects; expected one SUBJECT"),
        (("--baseline", "r.json"), "with 2 subjects; expected one SUBJECT"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_wrong_usage(place: Place, arguments: tuple[str, ...], says: str) -> None:
    (place.path / "r.json").write_text('{"schema": 2}')
    ended = place.run("check", *arguments)
    assert ended.code == 2
    assert says in ended.message()
