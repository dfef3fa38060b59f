"""Cells that differ by the load of this machine, maybe, take turns: what then goes the same way is no difference."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace as replace_dataclass
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from faults.coverage import Depth
from retryproof.examine import items_for
from retryproof.options import ExamineOptions
from retryproof.telling import Told, Turn, turns_of, varying, went_the_same_way
from retryproof.terminal import console
from signoff.comparison import CellChange
from signoff.items import Choice
from signoff.report import Report
from signoff.rules import Change
from tests.literal_reports import cell, literal_report

OK: Told = (2, "ok", None)
POORER: Told = (1, "failed", None)
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


def test_what_is_poorer_is_lived_through_again() -> None:
    """Whether or not the machine was felt to stall: what does not come back is no difference."""
    choice = Choice(depth=Depth.FULL, only="status/50[03]-before/first")
    options = replace_dataclass(OPTIONS, choice=choice)
    items = items_for(SIDES, options)
    base = literal_report(*(cell(id=item.id, outcome="ok", executions=1, status=None) for item in items))
    stalled = [replace(one, outcome="unknown", stalled=one is base.cells[0]) for one in base.cells]
    for number, one in enumerate(stalled):
        assert one.stalled is (number == 0)
    found = varying(SIDES, items, (base, replace(base, cells=tuple(stalled))), options, console(quiet=True))
    assert found == {items[0].id, items[1].id}


def _change(*, stalled: bool) -> CellChange:
    """The candidate was poorer."""
    base = cell(id="wait/a", attempts=2, outcome="ok")
    poorer = replace(base, attempts=1, outcome="failed", stalled=stalled)
    return CellChange(id="wait/a", change=Change.WEAKER, base=base, candidate=poorer, says="", about="")


AGREE, DIFFER = Turn(told=(OK, OK)), Turn(told=(OK, POORER))
BOTH_POORER = Turn(told=(POORER, POORER))
STALLED_SO, STALLED_OTHERWISE = (replace_dataclass(turn, stalled=True) for turn in (AGREE, DIFFER))
STALLED_POORER = replace_dataclass(BOTH_POORER, stalled=True)


@pytest.mark.parametrize(
    ("stalled", "turns", "same"),
    [
        (False, [AGREE] * 3, True),
        (False, [AGREE, AGREE, DIFFER], False),
        (False, [DIFFER] * 3, False),
        (False, [AGREE, AGREE, BOTH_POORER], False),
        (True, [DIFFER, DIFFER, AGREE], True),
        (True, [DIFFER] * 3, False),
        # In a stall both may be poorer: that takes no difference away, nor does it make one.
        (True, [DIFFER, STALLED_POORER, DIFFER, DIFFER], False),
        (False, [AGREE, STALLED_OTHERWISE, AGREE, AGREE], True),
        (False, [AGREE, *[STALLED_SO] * 5], True),
        (False, [AGREE, *[STALLED_OTHERWISE] * 5], False),
        (False, [STALLED_SO] * 6, False),
        (True, [STALLED_SO] * 6, True),
        (True, [STALLED_OTHERWISE] * 6, False),
    ],
)
def test_a_difference_that_could_be_believed_has_to_stay_away_every_time(
    stalled: bool, turns: list[Turn], same: bool
) -> None:
    """One that a stall may have made is none as soon as both sides told the same."""
    assert went_the_same_way(_change(stalled=stalled), turns) is same


@pytest.mark.parametrize(
    ("stalls", "turns"), [((), 3), ((1,), 4), ((1, 2, 3), 6), (range(1, 9), 6)], ids=["none", "one", "three", "all"]
)
def test_a_turn_in_which_the_machine_stalled_is_made_again(stalls: Sequence[int], turns: int) -> None:
    """And there is an end to it."""
    made = count(1)

    async def turn() -> Turn:
        return Turn(told=(OK, OK), stalled=next(made) in stalls)

    assert len(asyncio.run(turns_of(turn))) == turns


def test_where_nothing_was_told_otherwise_nothing_is_run() -> None:
    """Not even the subjects are asked for."""
    assert varying(("no", "subject"), (), reports(attempts=1), OPTIONS, console(quiet=True)) == frozenset()
