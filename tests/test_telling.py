"""Cells that told otherwise take turns: what then tells the same on both sides is no difference."""

from pathlib import Path

from msgspec.structs import replace

from faults.coverage import Depth
from retryproof.examine import items_for
from retryproof.options import ExamineOptions
from retryproof.telling import varying
from retryproof.terminal import console
from signoff.items import Choice
from signoff.report import Report
from tests.literal_reports import cell, literal_report

SIDES = ("reference:safe", "reference:safe")
OPTIONS = ExamineOptions(choice=Choice(depth=Depth.FULL, only="accept/*"), strict=False, out=Path("out"), quiet=True)


def reports(*, attempts: int) -> tuple[Report, Report]:
    """What was told of each cell; the candidate sent so often."""
    ids = [item.id for item in items_for(SIDES, OPTIONS) if item.tells]
    assert ids
    base = literal_report(*(cell(id=id_, tells=True, attempts=1, outcome="unknown", status=None) for id_ in ids))
    return base, replace(base, cells=tuple(replace(one, attempts=attempts) for one in base.cells))


def test_the_same_subject_tells_the_same_in_turns() -> None:
    """Whatever it was said to have told before."""
    sides = reports(attempts=7)
    found = varying(SIDES, items_for(SIDES, OPTIONS), sides, OPTIONS, console(quiet=True))
    assert found == {one.id for one in sides[0].cells}


def test_where_nothing_was_told_otherwise_nothing_is_run() -> None:
    """Not even the subjects are asked for."""
    assert varying(("no", "subject"), (), reports(attempts=1), OPTIONS, console(quiet=True)) == frozenset()
