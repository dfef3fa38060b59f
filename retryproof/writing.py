"""An examination that is being written down: at every moment its folder says how far it is, whatever ends it."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from retryproof.exits import CommandError, Exit
from retryproof.faces import FACES
from retryproof.folder import OutputFolder
from retryproof.options import ExamineOptions
from retryproof.sessions import Session, in_words
from signoff.baseline import against
from signoff.items import Item
from signoff.report import Loaded, Report, Worked, dump_report
from signoff.reporting import report_of
from signoff.results import Examination, Result
from suites.futures.suite import Suite
from suites.given import NOTHING_GIVEN, Given
from suites.processes import ProcessError
from suites.run import Run
from suites.subject import SubjectError
from suites.toxiproxy.errors import ToxiproxyError

NOT_FINISHED = "it was ended before it could say why"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is left of one examination: its report, its results, and where both were written."""

    name: str
    report: Report
    results: tuple[Result, ...]
    folder: OutputFolder
    given: Given = NOTHING_GIVEN
    suite: Suite | None = None


def smallest_id(id_: str) -> str:
    """The name of the smallest plan beside that of the plan it was cut down from."""
    return f"{id_}/smallest"


class Writing:
    """An examination that is being written down, marked as partial from its first moment on. Raises CommandError."""

    def __init__(
        self, session: Session, options: ExamineOptions, examination: Examination, folder: OutputFolder
    ) -> None:
        self.examination = examination
        self._session = session
        self._options = options
        self._folder = folder
        self._started = time.monotonic()
        self.suite: Suite | None = None
        self.loads: tuple[Loaded, ...] = ()
        self.work: Worked | None = None
        self._write(self._report(NOT_FINISHED))

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
        report = self._report(partial)
        self._write(report)
        self._folder.close()
        results = tuple(examination.in_order())
        return Examined(
            name=self._name,
            report=report,
            results=results,
            folder=self._folder,
            given=options.given,
            suite=self.suite,
        )

    @property
    def _name(self) -> str:
        """As a person types it."""
        return self._options.typed.get(self._session.name, self._session.name)

    def _report(self, partial: str) -> Report:
        report = report_of(
            self.examination,
            self._options.choice,
            strict=self._options.strict,
            seconds=time.monotonic() - self._started,
            partial=partial,
            suite=self.suite,
            named=self._name,
        )
        report = msgspec.structs.replace(report, loads=self.loads, work=self.work)
        baseline = self._options.baseline
        return report if baseline is None else against(report, *baseline)

    def _write(self, report: Report) -> None:
        self._folder.write(self._folder.path / "report.json", dump_report(report))
        for name, drawn in FACES:
            self._folder.write(self._folder.path / name, drawn(report))

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
