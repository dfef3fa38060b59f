"""One subject that is examined, maybe beside another: its cells, what is measured of it, and its suite of futures."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from retryproof.cluster import Cluster
from retryproof.exits import CommandError, Exit
from retryproof.folder import OutputFolder
from retryproof.options import ExamineOptions
from retryproof.sessions import Session
from retryproof.terminal import Begin
from retryproof.travelling import Expected, Travelling
from retryproof.units import Here
from retryproof.where import Where
from retryproof.where_options import MAX_JOBS
from retryproof.workers import MOST_STARTED, Workers
from retryproof.writing import Examined, Writing
from signoff.examination import Through, examine, in_lanes
from signoff.items import Item, wants_futures
from signoff.measuring import measure_loads, measure_work
from signoff.results import Examination
from suites.futures.offer import Offer
from suites.futures.suite import UNDER_TOXIPROXY, play_suite, suite_for
from suites.futures.told import told
from suites.kept_chain import LANES as KEPT_LANES
from suites.lanes import shared_lanes
from suites.stacks.stack import StackSubject
from suites.subject import Isolation

LANES = 16  # for each core that is kept busy: what they do most of the time is wait
QUIET_LANES = 24  # of a subject that cannot say when it is idle: four fifths of a run is waiting for its quiet window


class Company:
    """The sides that are examined together."""

    def __init__(self, sides: int) -> None:
        self.sides = sides
        self._broke: BaseException | None = None
        self._all = asyncio.Barrier(sides)
        self._turn = asyncio.Lock()

    async def all_there(self) -> None:
        """Every side has lived through its cells."""
        await self._all.wait()

    def told_by_all(self, error: BaseException) -> BaseException:
        """What ends a side, in its own words: it was cancelled because another one could not go on, or for no fault of
        theirs.
        """
        if not isinstance(error, asyncio.CancelledError):
            self._broke = self._broke or error
        elif self._broke is not None:
            return CommandError(f"the other side could not go on: {self._broke}", Exit.COULD_NOT_RUN)
        return error

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """No other side does anything meanwhile that needs this machine for itself."""
        async with self._turn:
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One subject that is examined, maybe beside another. place: among them. on_written: hears that its report says
    something new. where: its plans are lived through by worker processes. travelling: the subject, if not
    here.
    """

    session: Session
    place: int
    items: tuple[Item, ...]
    options: ExamineOptions
    begin: Begin
    company: Company
    on_written: Callable[[], None]
    where: Where = field(default_factory=Here)
    travelling: Travelling | None = None

    async def examined(self, into: Path | None) -> Examined:
        """Raises CommandError, after what was found has been written as a partial report."""
        session, options = self.session, self.options
        folder = OutputFolder.new(options.out, session.name) if into is None else OutputFolder(into)
        if isinstance(session.subject, StackSubject):
            session.subject.logs = folder.path / "logs"
        writing = Writing(session, options, Examination(spec=session.subject.spec, items=self.items), folder)
        self.on_written()
        try:
            through = await self._through()
            tick = self.begin(f"examining {session.name}", len(self.items))
            await examine(
                *(writing.examination, session.driver, session.machine, writing.recorder(tick), through),
                lanes=options.lanes,
            )
            await self._measure_work(writing)
            await self.company.all_there()
            await self._measure_loads(writing)
            if wants_futures(options.choice, [session.subject.spec]):
                async with self.company.alone():
                    await self._play_futures(writing)
            finished = writing.finish()
            self.on_written()
            return finished
        except BaseException as error:  # noqa: BLE001  # whatever ends it, what was found is written
            raise writing.broken_off(self.company.told_by_all(error)) from None

    async def _measure_work(self, writing: Writing) -> None:
        """In this process: most of its plans have been lived through, and a worker takes longer to start."""
        if self.options.measures is not None:
            here = in_lanes(self.session.driver, self.options.lanes)
            writing.work = await measure_work(self.options.measures, writing.examination, here)

    async def _measure_loads(self, writing: Writing) -> None:
        """Many at once not while another side does that: what they do to this machine is no subject's affair."""
        measures, session = self.options.measures, self.session
        if measures is None:
            return
        tick = self.begin(f"loads of {session.name}", len(measures.loads))

        @asynccontextmanager
        async def alone() -> AsyncIterator[None]:
            await self.company.all_there()  # every side is done with the loads that go on side by side
            async with self.company.alone():
                yield

        writing.loads = await measure_loads(measures, session.driver, session.machine, tick, alone)

    async def _through(self) -> Through:
        """Its share of the processes, or this one."""
        if self.options.in_this_process or self.session.subject.spec.standing:  # of which there is only one
            return in_lanes(self.session.driver, self.options.lanes)
        expected = await Expected.of(self.session)  # also its version: what starts an instance here may be nothing
        return self._workers(expected).live

    def _workers(self, expected: Expected) -> Workers:
        """Its share of the processes."""
        options, jobs = self.options, self._jobs()
        count = -(-(jobs - self.place) // self.company.sides)  # jobs dealt out in turns
        return Workers(
            name=self.session.name,
            count=max(1, count),
            given=options.given,
            lanes=options.lanes or self._lanes_of_worker(),
            toxiproxy=options.choice.toxiproxy,
            first=1 + self.place * jobs * MOST_STARTED,
            where=self.where,
            travelling=self.travelling,
            expected=None if self.travelling is None else expected,
        )

    def _jobs(self) -> int:
        """Of all sides: as many as there are CPUs for, unless somebody has said it."""
        match self.where:
            case Here():
                return self.options.jobs or 1
            case Cluster(cpus=cpus):
                return self.options.jobs or max(1, min(cpus, MAX_JOBS))
            case _:
                assert_never(self.where)

    def _lanes_of_worker(self) -> int:
        """Of one of so many: more, on the cores that there are, and this machine stalls."""
        jobs = self._jobs() if isinstance(self.where, Here) else 1  # each has a CPU of its own there
        spec = self.session.subject.spec
        if spec.isolation is Isolation.SHARED:
            return max(1, shared_lanes(spec) // jobs)  # each is a process already
        if spec.first_shared:
            return max(1, KEPT_LANES // jobs)
        of_core = LANES if spec.quiet_ms is None else QUIET_LANES
        return max(1, of_core * min(jobs, len(os.sched_getaffinity(0))) // jobs)

    def _no_scripts(self) -> str:
        """Why no script of futures is played; empty where they are."""
        return UNDER_TOXIPROXY if self.options.choice.toxiproxy else ""

    async def _play_futures(self, writing: Writing) -> None:
        session, choice = self.session, self.options.choice
        if why := self._no_scripts():
            writing.suite = suite_for(session.subject, examples=choice.scripts, seed_number=choice.seed, not_run=why)
            return
        await session.driver.stages.close()  # of a subject that stands, the router is where that of the scripts must be
        tick = self.begin(f"futures of {session.name}", len(told(Offer())) + choice.scripts)
        writing.suite = suite_for(session.subject, examples=choice.scripts, seed_number=choice.seed, on_script=tick)
        await play_suite(writing.suite, session.subject, session.driver.routers)
