"""Cells that differ, maybe only since the load of this machine was another when the other side ran: such as only tell,
and those of a run in which it stalled. They are lived through again, at the same time on both sides.
"""

import asyncio
from collections.abc import Sequence

from rich.console import Console

from retryproof.options import ExamineOptions
from retryproof.sessions import Session, with_subjects
from signoff.comparison import TOLD, CellChange, Change, compare
from signoff.items import Item
from signoff.report import CellReport, Report
from signoff.reporting import cell_report
from signoff.results import Result
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
    doubtful = [
        (of_id[one.id], one.base, one.candidate)
        for one in compare(*sides)
        if one.id in of_id and one.base is not None and one.candidate is not None and _is_doubtful(one)
    ]
    if not 0 < len(doubtful) <= MOST:
        return frozenset()

    async def work(sessions: tuple[Session, ...]) -> frozenset[str]:
        places = asyncio.Semaphore(TOGETHER)

        async def varies(item: Item, *cells: CellReport) -> bool:
            async with places:
                told = [{_told(cell)} for cell in cells]
                for _ in range(TURNS):
                    turn = await together(_lived(session, item) for session in sessions)
                    for seen, one in zip(told, turn, strict=True):
                        seen.add(one)
                return bool(told[0] & told[1])

        found = await together(varies(*one) for one in doubtful)
        return frozenset(item.id for (item, *_), one in zip(doubtful, found, strict=True) if one)

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


def _is_doubtful(change: CellChange) -> bool:
    if change.change not in (Change.WEAKER, Change.STRONGER):
        return change.about == TOLD
    return any(cell is not None and cell.stalled for cell in (change.base, change.candidate))


async def _lived(session: Session, item: Item) -> Told:
    run, judgement = await live(session.driver, item.plan)
    return _told(cell_report(Result(item=item, run=run, judgement=judgement), run=1, runs=1, strict=False))


def _told(cell: CellReport) -> Told:
    return cell.attempts, cell.outcome, cell.status
