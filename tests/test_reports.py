"""report.json is what its document promises, agrees with the ledger beside it, and is refused when it does not fit."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from faults.catalogue import CATALOGUE, FAMILIES
from faults.plan_json import load_plan, plan_from_json
from retryproof.dispatch import tool
from signoff.items import Choice, Item
from signoff.report import SCHEMA, Report, ReportError, dump_report, load_report
from signoff.reporting import overall, report_of
from signoff.results import Examination, Result
from suites.cells import all_cells
from suites.checks import CHECKS
from suites.findings import Finding, Verdict
from suites.judge import Judgement
from suites.run import Promise, Run, SubjectFacts
from suites.subject import SubjectSpec
from tests.command_process import Place

ONLY = "status/50[02]-*/first"  # cells that blanket-5xx breaks
SUBJECT_KEYS = {"name", "version", "promises", "contract"}
REPORT_KEYS = {"schema", "tool", "subject", "seed", "verdict", "counts", "cells"}
CELL_KEYS = {
    "id",
    "fault",
    "phase",
    "evidence",
    "class",
    "dimensions",
    "attempts",
    "accepted",
    "executions",
    "replied",
    "outcome",
    "status",
    "verdict",
    "findings",
    "plan",
}
FACTS = SubjectFacts(name="mine", promises=Promise.ANSWERING)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One examination with failures, whose report, ledger and plans all tests here read."""
    place = Place(path=tmp_path_factory.mktemp("reports"))
    ended = place.run("check", "reference:blanket-5xx", "--only", ONLY, "--seed", "7", "--out", "out", "--quiet")
    assert (ended.code, ended.out, ended.err) == (1, "", "")
    return place


@pytest.fixture(scope="module")
def raw(place: Place) -> dict[str, Any]:
    """The report as plain JSON."""
    return json.loads((place.folders()[0] / "report.json").read_text())  # type: ignore[no-any-return]


def test_every_key_that_the_design_promises_is_there(raw: dict[str, Any]) -> None:
    """By its name in the JSON."""
    assert raw.keys() >= REPORT_KEYS
    assert raw["subject"].keys() >= SUBJECT_KEYS
    assert raw["cells"]
    assert all(cell.keys() >= CELL_KEYS for cell in raw["cells"])
    findings = [finding for cell in raw["cells"] for finding in cell["findings"]]
    assert findings
    assert all(finding.keys() >= {"check", "kind", "says", "entries"} for finding in findings)
    assert {"reused", "segments", "streaming", "twin"} <= raw["cells"][0]["dimensions"].keys()


def test_it_says_who_was_asked_what(raw: dict[str, Any]) -> None:
    """Tool, subject, seed and contract."""
    assert (raw["schema"], raw["tool"], raw["seed"]) == (SCHEMA, tool(), 7)
    assert raw["subject"]["name"] == "reference:blanket-5xx"
    assert raw["subject"]["contract"] == [{"status": 503, "body": "No available workers"}]
    assert (raw["verdict"], raw["partial"]) == ("FAIL", "")


def test_counts_and_histogram_agree_with_the_cells(raw: dict[str, Any]) -> None:
    """Every fault of the catalogue is in the histogram; what was planned struck and was judged."""
    verdicts = Counter(cell["verdict"] for cell in raw["cells"])
    assert {key: count for key, count in raw["counts"].items() if key != "warnings"} == {
        **dict.fromkeys(("PASS", "FAIL", "UNKNOWN", "not_run"), 0),
        **verdicts,
    }
    assert list(raw["histogram"]) == [*CATALOGUE, *(family.name for family in FAMILIES)]
    planned = Counter(cell["fault"] for cell in raw["cells"])
    assert {id_: count["judged"] for id_, count in raw["histogram"].items() if count["judged"]} == planned


def test_every_cell_agrees_with_its_ledger(place: Place, raw: dict[str, Any]) -> None:
    """Executions are counted in the run that stands for the cell, and every entry of a finding is in it."""
    lines = place.ledger()
    for cell in raw["cells"]:
        own = [line["entry"] for line in lines if (line["cell"], line["run"]) == (cell["id"], cell["run"])]
        operations = {entry["exchange"]: entry["operation"] for entry in own if entry["entry"] == "Received"}
        struck = {entry["operation"] for entry in own if entry["entry"] == "Striking"}
        executed = [entry for entry in own if entry["entry"] == "Executed" and operations[entry["exchange"]] in struck]
        assert len(executed) == cell["executions"]
        assert {seq for finding in cell["findings"] for seq in finding["entries"]} <= {entry["seq"] for entry in own}


def test_every_plan_is_in_the_report_and_beside_it(place: Place, raw: dict[str, Any]) -> None:
    """Both are the same plan."""
    for cell in raw["cells"]:
        path = place.folders()[0] / "plans" / f"{cell['id'].replace('/', '--')}.json"
        assert load_plan(path.read_text()) == plan_from_json(cell["plan"])


def test_what_is_written_is_read_back(place: Place, tmp_path: Path) -> None:
    """Nothing is lost on the way through a file."""
    report = place.report()
    (tmp_path / "again.json").write_bytes(dump_report(report))
    assert load_report(tmp_path / "again.json") == report


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "truncated"),
        (b"[]", "object"),
        (b"{}", "schema"),
        (b'{"schema": 2}', "schema 2; this version of retryproof reads 1"),
        (b'{"schema": 99, "cells": "of a later version"}', "schema 99"),
        (b'{"schema": "1"}', "int"),
        (b'{"schema": 1}', "tool"),
        (b"\xff", "report.json"),
        (b'{"a": ' + b"[" * 1_000_000, "recursion"),
    ],
)
def test_what_is_no_report_of_this_schema_is_refused(tmp_path: Path, text: bytes, says: str) -> None:
    """With the file's name, what is wrong with it, and what was expected."""
    path = tmp_path / "report.json"
    path.write_bytes(text)
    with pytest.raises(ReportError, match=says) as refused:
        load_report(path)
    assert str(path) in str(refused.value)


def test_a_key_with_a_wrong_value_is_refused_by_its_place(place: Place, tmp_path: Path) -> None:
    """The message leads to it."""
    data = msgspec.json.decode(dump_report(place.report()))
    data["cells"][1]["verdict"] = "MAYBE"
    (tmp_path / "report.json").write_bytes(msgspec.json.encode(data))
    with pytest.raises(ReportError, match=r"MAYBE.*\$\.cells\[1\]\.verdict"):
        load_report(tmp_path / "report.json")


@pytest.mark.parametrize(
    ("verdicts", "whole", "part"),
    [
        ((Verdict.PASS, Verdict.PASS), "PASS", "UNKNOWN"),
        ((Verdict.PASS, Verdict.UNKNOWN), "UNKNOWN", "UNKNOWN"),
        ((Verdict.PASS, None), "PASS", "UNKNOWN"),
        ((Verdict.UNKNOWN, Verdict.FAIL), "FAIL", "FAIL"),
        ((None, None), "UNKNOWN", "UNKNOWN"),
        ((), "UNKNOWN", "UNKNOWN"),
    ],
)
def test_the_worst_cell_is_the_verdict_and_a_part_is_never_a_pass(
    verdicts: tuple[Verdict | None, ...], whole: str, part: str
) -> None:
    """What was not run is not judged, and where nothing was judged nothing is proved."""
    reports = [_report_of(verdicts, partial) for partial in ("", "interrupted")]
    assert [report.verdict for report in reports] == [whole, part]
    assert overall(reports[0].cells) == whole


def _report_of(verdicts: tuple[Verdict | None, ...], partial: str) -> Report:
    cells = all_cells()[: len(verdicts)]
    items = tuple(Item(id=cell.id, plan=cell.plan, cell=cell) for cell in cells)
    examination = Examination(spec=SubjectSpec(facts=FACTS), items=items)
    for item, verdict in zip(items, verdicts, strict=True):
        reason = "out of reach" if verdict is None else None
        run = Run(plan=item.plan, subject=FACTS, operations=(), ledger=(), history=(), unreachable=reason)
        findings = () if verdict is None else _findings(verdict)
        judgement = Judgement(verdict=verdict, not_run=reason, findings=findings)
        examination.lived[item.id] = [run]
        examination.results[item.id] = Result(item=item, run=run, judgement=judgement)
    return report_of(examination, Choice(), strict=False, seconds=1.0, partial=partial)


def _findings(verdict: Verdict) -> tuple[Finding, ...]:
    check = CHECKS[0]
    return ({Verdict.PASS: check.passes, Verdict.UNKNOWN: check.cannot_know, Verdict.FAIL: check.fails}[verdict]("so"),)
