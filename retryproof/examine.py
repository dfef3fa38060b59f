"""One subject examined from a command: progress, the output folder, and a partial report when it is broken off."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from retryproof.exits import CommandError, Exit
from retryproof.faces import FACES
from retryproof.folder import OutputFolder
from retryproof.options import ExamineOptions
from retryproof.sessions import Session, in_words, require_subject, with_subject
from retryproof.terminal import progress
from signoff.baseline import against
from signoff.examination import Examination, Result, examine
from signoff.items import Item, NothingToDoError, chosen_items, wants_futures
from signoff.report import Report, dump_report
from signoff.reporting import report_of
from suites.futures.offer import Offer
from suites.futures.suite import Suite, play_suite, suite_for
from suites.futures.told import told
from suites.given import NOTHING_GIVEN, Given
from suites.processes import ProcessError
from suites.reach import Machine
from suites.run import Run
from suites.subject import SubjectError
from suites.toxiproxy.errors import ToxiproxyError


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is left of one examination: its report, its results, and where both were written."""

    name: str
    report: Report
    results: tuple[Result, ...]
    folder: OutputFolder
    given: Given = NOTHING_GIVEN
    suite: Suite | None = None


def items_for(names: Sequence[str], options: ExamineOptions) -> tuple[Item, ...]:
    """What these subjects are examined on, the same for each. Many plans take seconds to draw.

    Raises CommandError (exit code 2) for a name that is no subject, and for a choice that leaves nothing.
    """
    specs = [require_subject(name, options.given) for name in names]
    machine = Machine.here(toxiproxy=options.choice.toxiproxy)
    try:
        return chosen_items(options.choice, specs, machine)
    except NothingToDoError as error:
        raise CommandError(str(error), Exit.USAGE) from None


def examine_subject(
    name: str, items: tuple[Item, ...], options: ExamineOptions, console: Console, *, into: Path | None = None
) -> Examined:
    """Examine that subject. Raises CommandError, after what was found has been written as a partial report.

    into: the folder that it is written to (default: a new one).
    """
    toxiproxy = options.choice.toxiproxy
    return with_subject(
        name,
        lambda session: _examine(session, items, options, console, into),
        options.given,
        console=console,
        toxiproxy=toxiproxy,
    )


async def _examine(
    session: Session, items: tuple[Item, ...], options: ExamineOptions, console: Console, into: Path | None
) -> Examined:
    folder = OutputFolder.new(options.out, session.name) if into is None else OutputFolder(into)
    writing = _Writing(session, options, Examination(spec=session.subject.spec, items=items), folder)
    try:
        with progress(console, f"examining {session.name}", len(items)) as tick:
            await examine(
                writing.examination, session.driver, session.machine, writing.recorder(tick), jobs=options.jobs
            )
        if wants_futures(options.choice, [session.subject.spec]):
            await _play_futures(writing, session, options, console)
        return writing.finish()
    except BaseException as error:  # noqa: BLE001  # whatever ends it, what was found is written
        raise writing.broken_off(error) from None


async def _play_futures(writing: "_Writing", session: Session, options: ExamineOptions, console: Console) -> None:
    await session.driver.stages.close()  # of a subject that stands, the router is where that of the scripts has to be
    scripts = len(told(Offer())) + options.choice.scripts
    with progress(console, f"futures of {session.name}", scripts) as tick:
        writing.suite = suite_for(
            session.subject, examples=options.choice.scripts, seed_number=options.choice.seed, on_script=tick
        )
        await play_suite(writing.suite, session.subject, session.driver.routers)


def smallest_id(id_: str) -> str:
    """The name of the smallest plan beside that of the plan it was cut down from."""
    return f"{id_}/smallest"


class _Writing:
    """An examination that is being written down."""

    def __init__(
        self, session: Session, options: ExamineOptions, examination: Examination, folder: OutputFolder
    ) -> None:
        self.examination = examination
        self._session = session
        self._options = options
        self._folder = folder
        self._started = time.monotonic()
        self.suite: Suite | None = None

    def recorder(self, tick: Callable[[], None]) -> Callable[[Item, int, Run], None]:
        """Writes down what was lived through as soon as it was."""

        def record(item: Item, number: int, run: Run) -> None:
            if number == 1:
                self._folder.add_plan(item.id, item.plan)
                tick()
            self._folder.add_ledger(item.id, number, run.ledger)

        return record

    def finish(self, partial: str = "") -> Examined:
        """Write the report; `partial` says why it is not whole. Raises CommandError."""
        examination, options = self.examination, self._options
        examination.spec = self._session.subject.spec  # by now its version is known
        for result in examination.in_order():
            if result.smallest is not None:
                self._folder.add_plan(smallest_id(result.item.id), result.smallest.plan)
        self._add_scripts()
        seconds = time.monotonic() - self._started
        report = report_of(
            examination,
            options.choice,
            strict=options.strict,
            seconds=seconds,
            partial=partial,
            suite=self.suite,
            named=self._session.name,
        )
        report = report if options.baseline is None else against(report, *options.baseline)
        self._folder.write(self._folder.path / "report.json", dump_report(report))
        for name, drawn in FACES:
            self._folder.write(self._folder.path / name, drawn(report))
        self._folder.close()
        results = tuple(examination.in_order())
        return Examined(
            name=self._session.name,
            report=report,
            results=results,
            folder=self._folder,
            given=options.given,
            suite=self.suite,
        )

    def _add_scripts(self) -> None:
        """Each script on which a property failed, or was not shown, with its ledger."""
        played = None if self.suite is None else self.suite.played
        for check, shown in ({} if played is None else {**played.unknown, **played.failing}).items():
            id_ = f"futures/{check}"
            self._folder.add_script(id_, shown.script)
            self._folder.add_ledger(id_, 1, shown.record.ledger)

    def broken_off(self, error: BaseException) -> BaseException:
        """Write what there is, and say where. The error that is to be raised instead of this one."""
        reason, code = why(error)
        written = False
        with contextlib.suppress(CommandError):  # what broke it off may well keep the report from being written
            self.finish(reason)
            written = True
        if code is None:
            return error
        found = f"{len(self.examination.results)} of {len(self.examination.items)} cells are in"
        where = f"{found} {str(self._folder.path / 'report.json')!r}" if written else ""
        return CommandError("; ".join(filter(None, (reason.rstrip("."), where))), code)


def why(error: BaseException) -> tuple[str, Exit | None]:
    """What broke it off, in words, and the exit code; None for an error that is ours."""
    match error:
        case asyncio.CancelledError() | KeyboardInterrupt():
            return "interrupted", Exit.INTERRUPTED
        case CommandError():
            return str(error), error.code
        case SubjectError() | ProcessError() | ToxiproxyError():
            return str(error), Exit.COULD_NOT_RUN
        case OSError():
            return in_words(error), Exit.COULD_NOT_RUN
        case _:
            return f"internal error: {error!r}", None
