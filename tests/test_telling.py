"""Cells that differ by the load of this machine, maybe, take turns: what then goes the same way is no difference."""

from dataclasses import replace as replace_dataclass
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


def test_what_is_poorer_in_a_run_in_which_the_machine_stalled_is_lived_through_again() -> None:
    """And that which is poorer in one that can be believed is not."""
    choice = Choice(depth=Depth.FULL, only="status/50[03]-before/first")
    options = replace_dataclass(OPTIONS, choice=choice)
    items = items_for(SIDES, options)
    base = literal_report(*(cell(id=item.id, outcome="ok", executions=1, status=None) for item in items))
    stalled = [replace(one, outcome="unknown", stalled=one is base.cells[0]) for one in base.cells]
    for number, one in enumerate(stalled):
        assert one.stalled is (number == 0)
    found = varying(SIDES, items, (base, replace(base, cells=tuple(stalled))), options, console(quiet=True))
    assert found == {items[0].id}


def test_where_nothing_was_told_otherwise_nothing_is_run() -> None:
    """Not even the subjects are asked for."""
    assert varying(("no", "subject"), (), reports(attempts=1), OPTIONS, console(quiet=True)) == frozenset()
