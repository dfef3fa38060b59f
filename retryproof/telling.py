"""Cells that only tell, and told otherwise on the other side: lived through again in turns, since what they tell may
depend on the load of this machine, which was another when the other side ran.
"""

import asyncio
from collections.abc import Sequence

from rich.console import Console

from retryproof.options import ExamineOptions
from retryproof.sessions import Session, with_subjects
from signoff.comparison import TOLD, compare
from signoff.items import Item
from signoff.report import CellReport, Report
from signoff.reporting import cell_report
from signoff.results import Result
from suites.lives import live

TURNS = 3
TOGETHER = 4
MOST = 12  # more of them differ for a reason

Told = tuple[int | None, str, int | None]


def varying(
    names: Sequence[str], items: Sequence[Item], sides: tuple[Report, Report], options: ExamineOptions, console: Console
) -> frozenset[str]:
    """The ids of the cells that told the same on both sides once they took turns. Raises CommandError."""
    changes = [change for change in compare(*sides) if change.about == TOLD]
    of_id = {item.id: item for item in items}
    doubtful = [
        (of_id[one.id], one.base, one.candidate)
        for one in changes
        if one.id in of_id and one.base is not None and one.candidate is not None
    ]
    if not 0 < len(doubtful) <= MOST:
        return frozenset()

    async def work(sessions: tuple[Session, ...]) -> frozenset[str]:
        places = asyncio.Semaphore(TOGETHER)

        async def varies(item: Item, *cells: CellReport) -> bool:
            async with places:
                told = [{_told(cell)} for cell in cells]
                for _ in range(TURNS):
                    for session, seen in zip(sessions, told, strict=True):
                        seen.add(await _lived(session, item))
                return bool(told[0] & told[1])

        found = await asyncio.gather(*(varies(*one) for one in doubtful))
        return frozenset(item.id for (item, *_), one in zip(doubtful, found, strict=True) if one)

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


async def _lived(session: Session, item: Item) -> Told:
    run, judgement = await live(session.driver, item.plan)
    return _told(cell_report(Result(item=item, run=run, judgement=judgement), run=1, runs=1, strict=False))


def _told(cell: CellReport) -> Told:
    return cell.attempts, cell.outcome, cell.status
