"""Cells that differ, maybe only since the load of this machine was another when the other side ran: such as only tell,
and those that are poorer or better. They are lived through again, at the same time on both sides.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rich.console import Console

from retryproof.options import ExamineOptions
from retryproof.sessions import Session, with_subjects
from signoff.comparison import CellChange, compare
from signoff.items import Item
from signoff.report import CellReport, Report
from signoff.reporting import cell_report
from signoff.results import Result
from signoff.rules import TOLD, Change
from suites.lives import live, stalled
from suites.together import together

TURNS = 3
MOST_TURNS = 6  # those in which this machine stalled included
TOGETHER = 6  # cells; of each both sides at the same time, on the same machine
MOST = 40  # more of them differ for a reason

Told = tuple[int | None, str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What base and candidate told at the same time. stalled: this machine did, which may be all that they told."""

    told: tuple[Told, ...]
    stalled: bool = False


def varying(
    names: Sequence[str], items: Sequence[Item], sides: tuple[Report, Report], options: ExamineOptions, console: Console
) -> frozenset[str]:
    """The ids of the cells that went the same way on both sides once they took turns. Raises CommandError."""
    of_id = {item.id: item for item in items}
    differ = [
        one
        for one in compare(*sides)
        if one.id in of_id and one.base is not None and one.candidate is not None and _may_come_from_load(one)
    ]
    if len(differ) > MOST:
        differ = [one for one in differ if _is_doubtful(one)]
    if not 0 < len(differ) <= MOST:
        return frozenset()

    async def work(sessions: tuple[Session, ...]) -> frozenset[str]:
        places = asyncio.Semaphore(TOGETHER)

        async def varies(one: CellChange) -> bool:
            async with places:
                turns = await turns_of(lambda: _turn(sessions, of_id[one.id]))
            return went_the_same_way(one, turns)

        found = await together(map(varies, differ))
        return frozenset(one.id for one, does in zip(differ, found, strict=True) if does)

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


async def turns_of(turn: Callable[[], Awaitable[Turn]]) -> list[Turn]:
    """Until enough of them tell something, or there is no end to stalls."""
    turns: list[Turn] = []
    while len(_telling(turns)) < TURNS and len(turns) < MOST_TURNS:
        turns.append(await turn())
    return turns


def went_the_same_way(change: CellChange, turns: Sequence[Turn]) -> bool:
    """What can be nothing but the load varies as soon as both sides ever told the same; a difference that could be
    believed has to stay away every time, and each turn to tell the same.

    What a side told while this machine stalled neither makes a difference nor takes one away; where too few turns are
    left it may not contradict them, and where none is left a difference that could be believed stays.
    """
    telling = _telling(turns)
    if not _is_doubtful(change):
        asked = telling if len(telling) >= TURNS else turns
        return bool(telling) and len({told for turn in asked for told in turn.told}) == 1
    first = [set() if cell.stalled else {_told(cell)} for cell in _sides(change)]
    asked = telling or turns
    base, candidate = (known.union(turn.told[side] for turn in asked) for side, known in enumerate(first))
    return bool(base & candidate)


def _telling(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if not turn.stalled]


def _sides(change: CellChange) -> list[CellReport]:
    return [cell for cell in (change.base, change.candidate) if cell is not None]


def _may_come_from_load(change: CellChange) -> bool:
    """It only tells, or is poorer or better: no must depends on it, so that nothing was lived through again for it."""
    return change.change in (Change.WEAKER, Change.STRONGER) or change.about == TOLD


def _is_doubtful(change: CellChange) -> bool:
    """What it told the first time may be nothing but the load."""
    if change.change not in (Change.WEAKER, Change.STRONGER):
        return change.about == TOLD
    return any(cell.stalled for cell in _sides(change))


async def _turn(sessions: Sequence[Session], item: Item) -> Turn:
    results = await together(_lived(session, item) for session in sessions)
    told = tuple(_told(cell_report(result, run=1, runs=1, strict=False)) for result in results)
    return Turn(told=told, stalled=any(stalled(result.run) for result in results))


async def _lived(session: Session, item: Item) -> Result:
    run, judgement = await live(session.driver, item.plan)
    return Result(item=item, run=run, judgement=judgement)


def _told(cell: CellReport) -> Told:
    return cell.attempts, cell.outcome, cell.status
