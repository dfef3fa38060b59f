"""One subject examined from a command: progress, the output folder, and a partial report when it is broken off."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from retryproof.exits import CommandError, Exit
from retryproof.folder import OutputFolder
from retryproof.sessions import Session, with_subject
from retryproof.terminal import progress
from signoff.examination import Examination, Result, examine
from signoff.items import Choice, NothingToDoError, chosen_items
from signoff.report import Report, dump_report
from signoff.reporting import report_of
from suites.subject import SubjectError


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is left of one examination: its report, its results, and where both were written."""

    name: str
    report: Report
    results: tuple[Result, ...]
    folder: OutputFolder


def examine_subject(name: str, choice: Choice, *, strict: bool, out: Path, console: Console) -> Examined:
    """Examine that subject. Raises CommandError, and KeyboardInterrupt after a partial report has been written."""
    return with_subject(name, lambda session: _examine(session, choice, strict=strict, out=out, console=console))


async def _examine(session: Session, choice: Choice, *, strict: bool, out: Path, console: Console) -> Examined:
    try:
        items = chosen_items(choice, session.subject.spec, session.machine)
    except NothingToDoError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    examination = Examination(spec=session.subject.spec, items=items)
    folder = OutputFolder.new(out, session.name)
    started = time.monotonic()

    def finish(partial: str = "") -> Examined:
        examination.spec = session.subject.spec  # by now its version is known
        report = report_of(examination, choice, strict=strict, seconds=time.monotonic() - started, partial=partial)
        folder.close()
        folder.write(folder.path / "report.json", dump_report(report))
        results = tuple(examination.in_order())
        return Examined(name=session.name, report=report, results=results, folder=folder)

    try:
        with progress(console, f"examining {session.name}", len(items)) as tick:
            await examine(examination, session.driver, session.machine, _recorder(folder, tick))
    except asyncio.CancelledError:
        finish("interrupted")
        raise
    except SubjectError as error:
        finish(f"the subject could not run: {error}")
        raise
    for result in examination.in_order():
        if result.smallest is not None:
            folder.add_plan(result.item.id, result.smallest)
    return finish()


def _recorder(folder: OutputFolder, tick: Callable[[], None]) -> Callable[[Result], None]:
    """Writes down what was lived through as soon as it was."""

    def record(result: Result) -> None:
        tick()
        folder.add_plan(result.item.id, result.item.plan)
        folder.add_ledger(result.item.id, result.run.ledger)

    return record
