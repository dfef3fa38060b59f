"""One load, lived through: processes are started, callers begin together, everything is looked at until all are done,
and then the ledgers are read.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from suites.ending import to_the_end
from suites.foreign import ForeignInstance
from suites.load.accounts import Accounts
from suites.load.asked import Load
from suites.load.crew import AnyCrew, CallerError, Crew
from suites.load.found import Found, Member, Role, Sample, Use, peak_in_flight
from suites.load.limits import Layout
from suites.load.listeners import who_listens_at
from suites.load.order import Order
from suites.load.progress import Count
from suites.load.releasing import Releasing, services_of
from suites.load.routers import RouterProcess
from suites.load.target import loaded, orders
from suites.load.usage import Watched
from suites.passage import Passage, Toxiproxy
from suites.processes import Supervisor
from suites.standing import StandingInstance, StandingSubject
from suites.subject import Address, SubjectError
from suites.subject_text import SubjectFile
from suites.together import together

T = TypeVar("T")

STARTING = 4  # processes that start side by side
LOOK_S = 0.5
CUT_SHORT_S = 10.0  # to read what is known of a load that was interrupted
_QUIET_S = 0.2
_SETTLE_S = 60.0

Look = Callable[[Sample], None]
AnyInstance = ForeignInstance | StandingInstance
MakeCrew = Callable[[Sequence[Order], Path, Supervisor], AnyCrew]


@dataclass(slots=True, kw_only=True)
class Living:
    """A load, lived through once. look: hears of every sample. make_crew: its callers. partly: what is known of one
    that was interrupted.
    """

    load: Load
    layout: Layout
    file: SubjectFile
    read_timeout_ms: int
    supervisor: Supervisor
    folder: Path
    look: Look
    between: Toxiproxy | None = None
    make_crew: MakeCrew = Crew
    samples: list[Sample] = field(default_factory=list)
    counts: dict[Count, int] = field(default_factory=dict)
    most_waiting: int = 0
    partly: Found | None = None
    _is_settled: bool = False
    _routers: list[RouterProcess] = field(default_factory=list)
    _instances: list[AnyInstance] = field(default_factory=list)
    _crew: AnyCrew | None = None
    _passages: list[Passage] = field(default_factory=list)
    _idle: tuple[Use, ...] = ()
    _watched: list[tuple[Member, Watched]] = field(default_factory=list)

    async def found(self) -> Found:
        """All of it; of one some of whose callers are lost, what the others had recorded by then.

        Raises SubjectError, CallerError, ProcessError, and OSError; leaves no process behind.
        """
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._end)
            await self._start_routers()
            await self._start_instances(stack)
            self._watch(Role.SUBJECT, self._of_subject())
            routers = [router.process.pid for router in self._routers if router.process]
            self._watch(Role.ROUTER, map(Watched.session, routers))
            self._idle = tuple(watched.use() for _, watched in self._watched)
            crew = await self._start_callers()
            await crew.ready()
            self._sample(crew)
            if not crew.lost():
                crew.begin()
            try:
                await self._until_done(crew)
                if crew.lost():
                    await crew.end()
                else:
                    self._is_settled = await self._settled()
                return await self._made(crew)
            except asyncio.CancelledError:
                await to_the_end(self._cut_short(crew))
                raise

    async def _cut_short(self, crew: AnyCrew) -> None:
        """What is known of a load that was interrupted: its callers record what has ended, and the routers tell."""
        with suppress(TimeoutError, CallerError, SubjectError):
            async with asyncio.timeout(CUT_SHORT_S):
                await crew.end()
                self.partly = await self._made(crew)

    async def _end(self) -> None:
        """All processes, side by side: each may take its time."""
        parts = (*([self._crew] if self._crew else []), *self._routers, *self._instances)
        await to_the_end(_stopped(parts))

    async def _start_routers(self) -> None:
        services = services_of(self.load.service, self.layout.routers, self.layout.instances)
        for nth in range(len(services)):
            folder = self.folder / f"router-{nth}"
            router = RouterProcess(self.file.spec.upstreams, folder, self.supervisor, self.file.spec.listen)
            self._routers.append(router)
        for some in _in_turn(list(zip(self._routers, services, strict=True))):
            await together(router.start(service) for router, service in some)
        if self.load.mix is not None:
            for router in self._routers:
                await router.arm(self.load.mix, self.load.seed, self.read_timeout_ms)

    async def _start_instances(self, stack: AsyncExitStack) -> None:
        ways = [await self._way_to(router, stack) for router in self._routers]
        chosen = [ways[nth % len(ways)] for nth in range(self.layout.instances)]
        for some in _in_turn(chosen):
            await together(self._start_instance(way) for way in some)

    async def _way_to(self, router: RouterProcess, stack: AsyncExitStack) -> Sequence[Address]:
        """Where that router is for the subject: behind Toxiproxy, where toxics are laid over the way."""
        if self.between is None:
            return router.addresses
        passage = await stack.enter_async_context(Passage.open(self.between, router.addresses, self.load.under))
        self._passages.append(passage)
        return [("127.0.0.1", port) for port in passage.ports]

    async def _start_instance(self, upstreams: Sequence[Address]) -> None:
        if self.file.url:
            self._instances.append(await StandingSubject(self.file).start())
            return
        file = loaded(self.file, self.read_timeout_ms)
        instance = ForeignInstance(file, self.supervisor)
        self._instances.append(instance)
        await instance.launch(upstreams, file.load.options)

    async def _start_callers(self) -> AnyCrew:
        addresses = [instance.address for instance in self._instances]
        crew = self.make_crew(orders(self.load, self.layout, self.file, addresses), self.folder, self.supervisor)
        self._crew = crew
        await crew.start()
        return crew

    def _watch(self, role: Role, each: Iterable[Watched]) -> None:
        """What these take is looked at from now on."""
        self._watched += [(Member(role=role, nth=nth), watched) for nth, watched in enumerate(each)]

    def _of_subject(self) -> Iterator[Watched]:
        """As far as it is known: of one that runs already, who listens where it is."""
        for instance in self._instances:
            if isinstance(instance, StandingInstance):
                if pids := who_listens_at(instance.address):
                    yield Watched.these(pids)
            elif instance.process is not None:
                yield Watched.session(instance.process.pid)

    def _sample(self, crew: AnyCrew) -> None:
        counts = self.counts = crew.counts()
        sample = Sample(
            at_ns=time.monotonic_ns(),
            in_flight=counts[Count.BEGUN] - counts[Count.DONE],
            done=counts[Count.DONE],
            failed=counts[Count.FAILED],
            uses=(*(watched.use() for _, watched in self._watched), *crew.uses()),
        )
        self.samples.append(sample)
        self.look(sample)

    async def _until_done(self, crew: AnyCrew) -> None:
        """Look at all of it again and again; what is held is released once all of it is."""
        releasing = Releasing(load=self.load, routers=self._routers)
        while not crew.are_done() and not crew.lost():
            await asyncio.sleep(LOOK_S)  # a look is a measurement: it comes with the clock
            crew.require()
            self._sample(crew)
            if any(self._died()):
                crew.give_up()
            self.most_waiting = max(self.most_waiting, await releasing.look())
        crew.require()

    async def _settled(self) -> bool:
        """Nothing is open at the routers, and nothing comes any more; False where it did not come to that in time."""
        deadline_s, before = time.monotonic() + _SETTLE_S, -1
        quiet_s = max(_QUIET_S, (self.file.spec.quiet_ms or 0) / 1000)
        while time.monotonic() < deadline_s:
            states = [await router.status() for router in self._routers]
            entries = sum(state.entries for state in states)
            if entries == before and not any(state.busy for state in states):
                return True
            before = entries
            await asyncio.sleep(quiet_s)  # the quiet window itself: a late sending is known by its coming
        return False

    async def _made(self, crew: AnyCrew) -> Found:
        tally, accounts = crew.tally(), Accounts(crew.last_number())
        for router in self._routers:
            accounts.add(await router.text("/account?operations=1"))
        return Found(
            load=self.load,
            promises=self.file.spec.facts.promises,
            layout=self.layout,
            tally=tally,
            account=accounts.account(),
            processes=(*(member for member, _ in self._watched), *_callers(self.layout.callers)),
            samples=tuple(self.samples),
            idle=self._idle,
            most_in_flight=peak_in_flight(tally.records),
            most_waiting=self.most_waiting,
            died=tuple(self._died()),
            settled=self._is_settled,
            lost=crew.lost(),
            overlaid=all([await passage.overlaid() for passage in self._passages]),
            counts={count.name.lower(): number for count, number in self.counts.items()},
        )

    def _died(self) -> Iterator[str]:
        for nth, instance in enumerate(self._instances):
            if how := instance.died():
                yield f"instance {nth} {how}"


def _callers(count: int) -> Iterator[Member]:
    return (Member(role=Role.CALLER, nth=nth) for nth in range(count))


async def _stopped(parts: Sequence[AnyCrew | RouterProcess | AnyInstance]) -> None:
    await asyncio.gather(*(part.stop() for part in parts))


def _in_turn(each: Sequence[T]) -> Iterator[Sequence[T]]:
    """A few at a time: what starts an interpreter keeps a core busy."""
    for first in range(0, len(each), STARTING):
        yield each[first : first + STARTING]
