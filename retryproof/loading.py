"""Loads one after the other, each on processes of its own; and the one place where their errors become messages."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from fake_router.mixing import ArmedMix
from fake_router.service import service_text
from faults.under_json import overlay_to_json
from retryproof.dispatch import tool
from retryproof.exits import CommandError, Exit, with_notes
from retryproof.interrupts import cancelling
from retryproof.load_asked import Asked
from retryproof.load_lives import Lives, jobs_of
from retryproof.sessions import in_words, toxiproxy_if
from retryproof.temporary import temporary_folder
from retryproof.where import somewhere
from signoff.load_report import LoadReport, LoadSubject, Machine, Step
from signoff.load_reporting import step_of, worst_of
from suites.foreign import ForeignSubject
from suites.load.asked import Load
from suites.load.crew import CallerError
from suites.load.found import Found, Sample
from suites.load.limits import Layout, LimitError, Limits, layout
from suites.load.machine import limits_here
from suites.load.releasing import services_of
from suites.load.target import NoTargetError, callers_of, loaded, read_timeout_ms
from suites.processes import ProcessError, Supervisor
from suites.subject import SubjectError
from suites.toxiproxy.errors import ToxiproxyError

Plan = Callable[[Limits, Load, Layout], None]
Write = Callable[[LoadReport], None]


def load_report(asked: Asked, look: Callable[[Sample], None], write: Write, plan: Plan, *, begin: Write) -> LoadReport:
    """Every load, written as soon as it is over. plan: hears of each before it begins. begin: hears before all of them
    what a load that is killed shall have left.

    Raises CommandError: exit code 2 for what does not go together, 4 where the machine or the subject cannot.
    """
    limits = limits_here()
    try:
        loads = [_possible(asked, n, limits) for n in asked.levels]
        left_out = _left_out(asked, loads)
    except LimitError as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    except (NoTargetError, ValueError) as error:
        raise CommandError(str(error), Exit.USAGE) from None
    made = _Made(asked=asked, limits=limits, write=write, wanted=len(loads), left_out=left_out)
    begin(made.report)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_all(made, [load for load, _ in loads], look, plan))
    except LimitError as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    except (SubjectError, ProcessError, CallerError, ToxiproxyError) as error:
        raise made.stopped(with_notes(error, str(error))) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        made.partial("interrupted")
    except OSError as error:
        raise made.stopped(in_words(error)) from None
    return made.report


def _possible(asked: Asked, in_flight: int, limits: Limits) -> tuple[Load, Layout]:
    """One of them, and how it is laid out. Raises what Asked and `layout` do, and ValueError for what else would not
    go together once it is begun.
    """
    load, processes = asked.load(in_flight), layout(limits, asked.wanted(in_flight, asked.jobs or 0))
    services_of(load.service, processes.routers, processes.instances)
    if not asked.file.url:
        loaded(asked.file, read_timeout_ms(load))
    return load, processes


def _left_out(asked: Asked, loads: Sequence[tuple[Load, Layout]]) -> tuple[str, ...]:
    """The faults of its mix that no operation can be given. Raises PlanError where that are all of them."""
    if asked.mix is None:
        return ()
    armed = [
        ArmedMix.of(asked.mix, seed=asked.seed, read_timeout_ms=read_timeout_ms(load), tls=False) for load, _ in loads
    ]
    return armed[0].left_out


@dataclass(slots=True, kw_only=True)
class _Made:
    """The report as far as it goes. wanted: how many loads it is of."""

    asked: Asked
    limits: Limits
    write: Write
    wanted: int
    left_out: tuple[str, ...]
    version: str = ""
    steps: tuple[Step, ...] = ()
    _why: str = ""

    def add(self, found: Found) -> None:
        """One load is over."""
        self.steps = (*self.steps, step_of(found))
        self.write(self.report)

    def partial(self, why: str) -> None:
        """No more will come."""
        self._why = why
        self.write(self.report)

    def stopped(self, why: str) -> CommandError:
        """It cannot go on; what there is of it is said to be a part."""
        if self.steps:
            self.partial(why)
        return CommandError(why, Exit.COULD_NOT_RUN)

    @property
    def _why_partial(self) -> str:
        missing = self.wanted - len(self.steps)
        return self._why or (f"{missing} of {self.wanted} loads are to come" if missing else "")

    @property
    def report(self) -> LoadReport:
        """What is known."""
        asked, spec = self.asked, self.asked.file.spec
        verdict = worst_of(step.verdict for step in self.steps)
        return LoadReport(
            tool=tool(),
            subject=LoadSubject(name=spec.facts.name, version=self.version, promises=spec.facts.promises.value),
            mode=service_text(asked.service),
            callers=callers_of(asked.file, asked.callers).value,
            seed=asked.seed,
            for_s=asked.for_s,
            ramp=asked.stairs,
            faults=None if asked.mix is None else asked.mix.name,
            left_out=list(self.left_out),
            under=[overlay_to_json(overlay) for overlay in asked.under],
            machine=Machine(
                files=self.limits.files,
                backlog=self.limits.backlog,
                packets=self.limits.packets,
                ports=self.limits.ports,
                cores=self.limits.cores,
                memory_bytes=self.limits.memory_bytes,
            ),
            steps=list(self.steps),
            verdict="UNKNOWN" if self._why_partial else verdict,
            partial=self._why_partial,
        )


async def _all(made: _Made, loads: list[Load], look: Callable[[Sample], None], plan: Plan) -> None:
    task = asyncio.current_task()
    assert task is not None
    asked, file = made.asked, made.asked.file
    with _in_one_folder() as (folder, leave), cancelling(task, leave):
        async with (
            somewhere(asked.ray) as where,
            Supervisor() as supervisor,
            toxiproxy_if(bool(asked.under), supervisor, asked.console) as between,
        ):
            if not file.url:
                subject = ForeignSubject(file, supervisor)
                if missing := subject.missing():
                    raise SubjectError(missing)
                await subject.read_version()
                made.version = subject.spec.version
            lives = Lives(
                asked=asked,
                partly=made.add,
                supervisor=supervisor,
                between=between,
                folder=folder,
                look=look,
                where=where,
            )
            for load in loads:
                processes = layout(made.limits, asked.wanted(load.in_flight, jobs_of(asked, where)))
                plan(made.limits, load, processes)
                made.add(await lives.lived(load, processes))


@contextmanager
def _in_one_folder() -> Iterator[tuple[Path, Callable[[], None]]]:
    """All that processes write goes into one folder, which is gone afterwards. Yields what removes it at once, too."""
    before = tempfile.tempdir
    with temporary_folder() as folder:
        tempfile.tempdir = str(folder)
        try:
            yield folder, partial(shutil.rmtree, folder, ignore_errors=True)
        finally:
            tempfile.tempdir = before
