"""What is published of a report: the same bytes for the same run, and one word for each cell."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from signoff.drift import Drift, drifted, with_more
from signoff.published import (
    Mark,
    dump_published,
    file_name,
    load_all,
    mark_of,
    version_number,
)
from signoff.report import CellReport, FindingReport, ReportError
from tests.literal_reports import LOST, OPEN, RETRIED, TOLD, broken, cell
from tests.literal_results import result


@pytest.mark.parametrize(
    ("one", "mark"),
    [
        (cell(), Mark.HOLDS),
        (cell(tells=True, findings=(TOLD,)), Mark.TELLS),
        (cell(warnings=1, tells=True, findings=(LOST,)), Mark.SHOULD),
        (cell(varies=True, tells=True, warnings=1), Mark.VARIES),
        (cell(verdict="UNKNOWN", findings=(OPEN,), reason="nobody counted", varies=True), Mark.UNKNOWN),
        (broken(RETRIED, varies=True, warnings=1), Mark.MUST),
        (cell(verdict="not_run", reason="no TLS"), Mark.NOT_RUN),
    ],
)
def test_of_each_cell_the_worst_is_said(one: CellReport, mark: Mark) -> None:
    """And what was not run is said to be that."""
    assert mark_of(one) is mark


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("nginx version: nginx/1.22.1", "1.22.1"),
        ("envoy  version: 6eb0d2d/1.39.3/Clean/RELEASE", "1.39.3"),
        ("go version go1.26.8 linux/amd64", "1.26.8"),
        ("@fastify/http-proxy 11.6.3, node v20.20.2", "11.6.3"),
        ("v2.11.7 h1:yj0Y4=", "2.11.7"),
        ("r 17 (a/b)", "r-17-a-b"),
        ("openai 3.57.0 + litellm 1.2", "3.57.0+1.2"),
        ("", "unknown"),
    ],
)
def test_a_version_is_a_part_of_a_file_name(said: str, number: str) -> None:
    """Whatever a program says of itself."""
    assert version_number(said) == number


def test_a_result_is_called_after_its_subject_and_version() -> None:
    """With no character that a file system refuses."""
    assert file_name("nginx:retry-all", "1.22.1") == "nginx--retry-all-1.22.1.json"
    assert file_name("openai+litellm", "1.0") == "openai+litellm-1.0.json"
    assert file_name("../mine.toml:next", "1.0") == "..-mine.toml--next-1.0.json"


def test_times_runs_and_the_numbers_of_operations_change_no_byte() -> None:
    """What an examination adds by chance is not published."""

    def one(operation: int, **by_chance: Any) -> bytes:
        says = (
            f"operation {operation} was sent again; fresh operation {operation + 7} was not, operation {operation} "
            f"holds execution {operation + 9}"
        )
        finding = FindingReport(
            check="safe-retry", kind="must", verdict="FAIL", says=says, entries=(operation, operation + 1)
        )
        return dump_published(result(broken(finding, **by_chance)))

    assert one(3, delay_ms=1.0, runs=1, run=1) == one(123, delay_ms=9.5, runs=4, run=2)
    assert b"operation 1 was sent again; fresh operation 2 was not, operation 1 holds execution 1" in one(3)


def test_results_are_read_back_by_kind_subject_and_version(tmp_path: Path) -> None:
    """In the order in which the pages show them."""
    results = [
        result(cell(), subject="b"),
        result(cell(), subject="a", version="a 1.10"),
        msgspec.structs.replace(result(cell(), subject="A"), kind="clients"),
    ]
    for one in results:
        (tmp_path / file_name(one.subject, one.number)).write_bytes(dump_published(one))
    assert load_all(tmp_path) == (results[1], results[0], results[2])


def test_what_is_no_result_is_refused_by_its_name(tmp_path: Path) -> None:
    """A report is none."""
    (tmp_path / "x.json").write_bytes(b'{"schema": 1, "cells": []}')
    with pytest.raises(ReportError, match=r"x\.json' is no Published"):
        load_all(tmp_path)


def test_only_what_is_certain_on_both_sides_can_differ() -> None:
    """What varies, was not run, proved nothing or stalled is no difference."""
    ways = (
        cell(id="a/a/varies", varies=True, tells=True),
        cell(id="a/a/not-run", verdict="not_run"),
        cell(id="a/a/unknown", verdict="UNKNOWN"),
        cell(id="a/a/stalled", stalled=True),
        cell(id="a/a/same"),
        cell(id="a/a/other"),
    )
    before = result(*ways)
    now = result(*(msgspec.structs.replace(one, **CERTAIN, attempts=2) for one in ways[:4]), *CHANGED)
    assert [one.published.id for one in drifted(before, now)] == ["a/a/other"]
    assert [one.published.id for one in drifted(now, before)] == ["a/a/other"]


CERTAIN: dict[str, Any] = {"varies": False, "verdict": "PASS", "stalled": False}
CHANGED = (cell(id="a/a/same", warnings=1), cell(id="a/a/other", executions=2))


def test_a_cell_that_went_once_as_it_was_published_varies() -> None:
    """Both are true of it, so it does not differ."""
    before = result(cell())
    twice, once = result(cell(attempts=2)), result(cell())
    drifts = drifted(before, twice)
    assert [one.varies for one in with_more(drifts, twice)] == [False]
    assert [one.varies for one in with_more(drifts, once)] == [True]
    assert [len(one.now) for one in with_more(drifts, result())] == [1]


def test_a_difference_shows_both_sides_once() -> None:
    """However often it was lived through."""
    seen = result(cell(attempts=2, executions=2)).cells[0]
    one = Drift(published=result(cell()).cells[0], now=(seen, seen))
    assert str(one) == (
        "wait/reset-after/first: published PASS, 1 sent, 1 run, ok 200; now PASS, 2 sent, 2 run, ok 200"
    )
