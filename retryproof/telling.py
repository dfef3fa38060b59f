"""Cells that differ, maybe only since the load of this machine was another when the other side ran: such as only tell,
and those that are poorer or better. They are lived through again, at the same time on both sides.
"""

import asyncio
from collections.abc import Sequence

from rich.console import Console

from retryproof.options import ExamineOptions
from retryproof.sessions import Session, with_subjects
from signoff.comparison import CellChange, compare
from signoff.items import Item
from signoff.report import CellReport, Report
from signoff.reporting import cell_report
from signoff.results import Result
from signoff.rules import TOLD, Change
from suites.lives import live
from suites.together import together

TURNS = 3
TOGETHER = 6  # cells; of each both sides at the same time, on the same machine
MOST = 40  # more of them differ for a reason

Told = tuple[int | None, str, int | None]


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
                turns = [await together(_lived(session, of_id[one.id]) for session in sessions) for _ in range(TURNS)]
            return went_the_same_way(one, turns)

        found = await together(map(varies, differ))
        return frozenset(one.id for one, does in zip(differ, found, strict=True) if does)

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


def went_the_same_way(change: CellChange, turns: Sequence[Sequence[Told]]) -> bool:
    """What can be nothing but the load varies as soon as both sides ever told the same; a difference that could be
    believed has to stay away every time, and each turn to tell the same.
    """
    if not _is_doubtful(change):
        return len({told for turn in turns for told in turn}) == 1
    first = [_told(cell) for cell in (change.base, change.candidate) if cell is not None]
    base, candidate = (set(told) for told in zip(first, *turns, strict=True))
    return bool(base & candidate)


def _may_come_from_load(change: CellChange) -> bool:
    """It only tells, or is poorer or better: no must depends on it, so that nothing was lived through again for it."""
    return change.change in (Change.WEAKER, Change.STRONGER) or change.about == TOLD


def _is_doubtful(change: CellChange) -> bool:
    """What it told the first time may be nothing but the load."""
    if change.change not in (Change.WEAKER, Change.STRONGER):
        return change.about == TOLD
    return any(cell is not None and cell.stalled for cell in (change.base, change.candidate))


async def _lived(session: Session, item: Item) -> Told:
    run, judgement = await live(session.driver, item.plan)
    return _told(cell_report(Result(item=item, run=run, judgement=judgement), run=1, runs=1, strict=False))


def _told(cell: CellReport) -> Told:
    return cell.attempts, cell.outcome, cell.status
