"""One run: warm up, break, call, settle, heal, call again; then everything that happened, for the checks.

The driver decides nothing about right and wrong. Order comes from events of the router; the only clock in here
is the quiet window of a subject that cannot say when it is idle.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

from fake_router.entries import Opened
from fake_router.kernel import sockets_towards
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from suites.history import Kind, Outcome
from suites.numbers import Numbers
from suites.pulse import Pulse
from suites.run import Run, Sockets
from suites.settling import settle
from suites.stage import Stage
from suites.subject import InProcess, Subject

CLOSING_MS = 1_000  # how long a subject may take to close what it no longer uses before it counts as a leak
CLOSING_STEP_S = 0.01
WARM_UPS = 3


@dataclass(slots=True, kw_only=True)
class Driver:
    """Lives through plans with fresh instances of one subject; many runs may be under way at once.

    An async context manager: leaving it ends what it measures beside the runs. Raises SubjectError from `run` when
    an instance cannot be started.
    """

    subject: Subject
    routers: RouterThread
    numbers: Numbers = field(default_factory=Numbers)
    pulses: list[Pulse] = field(default_factory=list)
    _warm: dict[int, asyncio.Task[int]] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._warm.values():
            task.cancel()
        await asyncio.gather(*self._warm.values(), return_exceptions=True)

    async def run(self, plan: Plan) -> Run:
        """The plan on an instance of its own."""
        async with Stage.open(self.subject, self.routers) as stage:
            return await self.run_on(stage, plan)

    async def run_on(self, stage: Stage, plan: Plan, *, company: bool = False) -> Run:
        """The plan on an instance that exists."""
        await self._feel_pulses()
        started_ns = time.monotonic_ns()
        warm, warmups = await self._warm_up(stage, plan)
        operations = self.numbers.take(len(plan.operations))
        read_timeout_ms = self.subject.spec.read_timeout_ms
        since = await stage.on_router(lambda router: _arm(router, plan, operations[0], read_timeout_ms))
        history = await self._waves(stage, plan, operations)
        settled = await settle(stage, self.subject.spec)
        await stage.on_router(_drain_and_heal)
        fresh = self.numbers.take(1)
        history.append(await self._call(stage, PlannedOperation(), fresh[0]))
        healed = await self._sockets_left(stage, plan, warm)
        await stage.on_router(lambda router: router.drain())
        return Run(
            plan=plan,
            subject=self.subject.spec.facts,
            operations=operations,
            warmups=warmups,
            fresh=fresh,
            ledger=stage.entries(since=since),
            history=tuple(history),
            sockets=Sockets(warm=warm, healed=healed),
            settled=settled,
            died=stage.instance.died(),
            company=company,
            stalled_ms=max(pulse.worst_since(started_ns) for pulse in self.pulses),
            shortest_timeout_ms=min(self.subject.spec.read_timeout_ms, self.subject.spec.connect_timeout_ms),
        )

    async def _feel_pulses(self) -> None:
        """One pulse on each loop of ours that a run goes over; made once."""
        if not self.pulses:
            self.pulses.append(Pulse())
            self.pulses.append(await self.routers.call(Pulse))
            if isinstance(self.subject, InProcess):
                self.pulses.append(await self.subject.pulse())

    async def _warm_up(self, stage: Stage, plan: Plan) -> tuple[int, tuple[int, ...]]:
        """How many sockets a healthy subject holds to one upstream at this concurrency; done on this very instance
        only where the plan asks for reused connections, since it leaves some.
        """
        concurrency = plan.concurrency
        if any(operation.reused for operation in plan.operations):
            # On every upstream as many as are needed if all operations choose the same one.
            return await warm_up(stage, concurrency * len(stage.ports), self.numbers, self._call)
        if concurrency not in self._warm:
            self._warm[concurrency] = asyncio.ensure_future(self._measure_warm(concurrency))
        # All operations may meet on one upstream, though in health they were spread over several.
        return max(concurrency, await asyncio.shield(self._warm[concurrency])), ()

    async def _measure_warm(self, concurrency: int) -> int:
        async with Stage.open(self.subject, self.routers) as stage:
            sockets, _ = await warm_up(stage, concurrency, self.numbers, self._call)
            return sockets

    async def _waves(self, stage: Stage, plan: Plan, operations: tuple[int, ...]) -> list[Outcome]:
        history: list[Outcome] = []
        for wave in sorted({planned.wave for planned in plan.operations}):
            together = [
                self._call(stage, planned, number)
                for planned, number in zip(plan.operations, operations, strict=True)
                if planned.wave == wave
            ]
            history += await asyncio.gather(*together)
        return history

    async def _call(self, stage: Stage, planned: PlannedOperation, number: int) -> Outcome:
        return await stage.instance.call(planned, number, self.subject.spec.ceiling_ms)

    async def _sockets_left(self, stage: Stage, plan: Plan, warm: int) -> int:
        """Open sockets to one upstream, once the subject has had its time to close what it no longer uses. It
        cannot hold more than it ever opened; only beyond that is the kernel asked, which takes a millisecond.
        """
        opened = Counter(entry.upstream for entry in stage.entries() if isinstance(entry, Opened))
        most_opened = max(opened.values(), default=0)
        if most_opened <= warm and not plan.listeners:  # a faulty listener may never have seen a socket
            return most_opened
        deadline = time.monotonic() + CLOSING_MS / 1000
        left = most_sockets(stage)
        while left > warm and time.monotonic() < deadline:
            await asyncio.sleep(CLOSING_STEP_S)  # no event: the kernel tells nobody of foreign sockets
            left = most_sockets(stage)
        return left


def most_sockets(stage: Stage) -> int:
    """How many sockets the subject holds to the upstream to which it holds most."""
    return max(sockets_towards((port,)) for port in stage.ports)


Caller = Callable[[Stage, PlannedOperation, int], Awaitable[Outcome]]

_WARM_GATE = "warm"


async def warm_up(stage: Stage, together: int, numbers: Numbers, call: Caller) -> tuple[int, tuple[int, ...]]:
    """So many healthy operations in flight together. Returns how many sockets the subject then holds to the
    upstream to which it holds most, and the operations.

    On a busy machine they may miss each other, or time out while they wait for each other: then once more.
    """
    operations: tuple[int, ...] = ()
    for _ in range(WARM_UPS):
        numbered = numbers.take(together)
        operations += numbered
        if await _warm_up_once(stage, numbered, call):
            break
    return most_sockets(stage), operations


async def _warm_up_once(stage: Stage, operations: tuple[int, ...], call: Caller) -> bool:
    """All were in flight together, and all succeeded. A subject that sends one at a time never gets there: half
    its read timeout is the limit.
    """
    plan = Plan(name="warm-up", operations=(PlannedOperation(gate=_WARM_GATE),) * len(operations))
    read_timeout_ms = stage.subject.spec.read_timeout_ms
    since = await stage.on_router(lambda router: _arm(router, plan, operations[0], read_timeout_ms))
    calls = [asyncio.ensure_future(call(stage, PlannedOperation(), number)) for number in operations]
    together = await stage.all_received(len(operations), since=since, within_ms=read_timeout_ms // 2)
    await stage.on_router(lambda router: router.open_gate(_WARM_GATE))
    outcomes = await asyncio.gather(*calls)
    await stage.on_router(lambda router: router.heal())
    return together and all(outcome.kind is Kind.OK for outcome in outcomes)


def _arm(router: Router, plan: Plan, first: int, read_timeout_ms: int) -> int:
    since = len(router.ledger)
    router.arm(plan, first_operation=first, read_timeout_ms=read_timeout_ms)
    return since


def _drain_and_heal(router: Router) -> None:
    router.drain()
    router.heal()
