"""A subject in good health: operations in flight together, and the sockets that it then holds."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from fake_router.entries import AnyEntry, Received
from fake_router.server import Router
from faults.plan import Plan, PlannedOperation
from suites.ending import to_the_end
from suites.history import Kind, Outcome
from suites.numbers import Numbers
from suites.stage import Stage
from suites.stages import Stages
from suites.subject import Isolation, Subject
from suites.way import PLAIN, Way

WARM_UPS = 3
FILLING_MS = 100  # how long a pool may go on to fill itself, where the subject has no quiet window to wait for
INSTANCES = 3  # in how many instances a yardstick is looked for
_GATE = "warm"

_Fill = Callable[[Stage], Awaitable["WarmUp"]]
_Kind = tuple[int, Way]  # how many together, on which way


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """What came of warming up. healthy: no operation failed, so nothing was left behind by a failure. visible: the
    kernel that we can ask knew of its sockets while it must have had some.
    """

    sockets: int
    operations: tuple[int, ...]
    healthy: bool
    visible: bool = True

    @property
    def yardstick(self) -> int | None:
        """How many sockets a healthy subject holds; None: what was counted may be what a failure has left."""
        return self.sockets if self.healthy else None


@dataclass(slots=True, kw_only=True)
class Warmth:
    """Warms instances up, and knows how many sockets a healthy one holds to one upstream at each concurrency."""

    subject: Subject
    stages: Stages
    numbers: Numbers
    _tasks: dict[_Kind, asyncio.Task[int | None]] = field(default_factory=dict)
    _known: dict[int, WarmUp] = field(default_factory=dict)
    _in_vain: Counter[_Kind] = field(default_factory=Counter)
    _aside: "_Aside" = field(init=False)

    def __post_init__(self) -> None:
        self._aside = _Aside(self.stages)

    async def close(self) -> None:
        """End what is still being measured."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._aside.close()

    async def measured(self, together: int, way: Way = PLAIN) -> int | None:
        """Counted on an instance beside the runs; None when none was in good health. A measurement that failed is
        forgotten, and made again for the next who asks; after INSTANCES of them none is made any more.
        """
        kind = together, way
        task = self._tasks.get(kind)
        if task is None:
            if self._in_vain[kind] >= INSTANCES:
                return None
            task = self._counted(together, way, self._measure(*kind))
        return await asyncio.shield(task)

    async def measured_first(self, stage: Stage, together: Collection[int], way: Way) -> bool:
        """Counted on an instance to which nothing has happened yet, which then need not be started beside the runs;
        afterwards none of its connections is open. False: all of it is known, or being counted, and it was left alone.
        """
        turn = asyncio.Lock()

        async def fill(many: int) -> int | None:
            async with turn:
                warm = await self._fill(stage, many)
                await stage.close_idle()
            return warm.sockets if warm.healthy else None

        tasks = [self._counted(many, way, fill(many)) for many in sorted(together) if (many, way) not in self._tasks]
        await asyncio.gather(*tasks)
        return bool(tasks)

    def _counted(self, together: int, way: Way, counting: Coroutine[Any, Any, int | None]) -> asyncio.Task[int | None]:
        """Known to all who ask from now on."""
        kind = together, way
        task = self._tasks[kind] = asyncio.ensure_future(counting)
        task.add_done_callback(lambda done: self._forget_failed(kind, done))
        return task

    def _forget_failed(self, kind: _Kind, task: asyncio.Task[int | None]) -> None:
        if task.cancelled() or task.exception() is not None:
            del self._tasks[kind]
        elif task.result() is None:
            del self._tasks[kind]
            self._in_vain[kind] += 1

    async def _measure(self, together: int, way: Way) -> int | None:
        shared = self.subject.spec.isolation is Isolation.SHARED
        for _ in range(INSTANCES):
            warm = await (self._aside.filled if shared else self._filled)(
                way, lambda stage: self._fill(stage, together)
            )
            if warm.healthy:
                return warm.sockets
        return None

    async def _filled(self, way: Way, fill: _Fill) -> WarmUp:
        async with self.stages.one(way=way) as stage:
            return await fill(stage)

    async def _fill(self, stage: Stage, together: int) -> WarmUp:
        warm = await self.warm_up(stage, together, until_healthy=False)
        if not warm.healthy:
            return warm
        # A pool may fill by itself for a while: that is health, and no leak.
        await asyncio.sleep(max(self.subject.spec.quiet_ms or 0, FILLING_MS) / 1000)
        return replace(warm, sockets=max(warm.sockets, await most_sockets(stage)))

    async def measured_here(self, stage: Stage, together: int) -> WarmUp:
        """Counted once for each concurrency, on the only instance there is; afterwards its connections are closed."""
        known = self._known.get(together)
        if known is not None:
            return replace(known, operations=())
        if self._in_vain[together, PLAIN] >= INSTANCES:
            return WarmUp(sockets=0, operations=(), healthy=False)
        warm = await self._fill(stage, together)
        await stage.close_idle()
        if warm.healthy:
            self._known[together] = warm
        else:
            self._in_vain[together, PLAIN] += 1
        return warm

    async def warm_up(self, stage: Stage, together: int, *, until_healthy: bool = True) -> WarmUp:
        """So many healthy operations in flight together. On a busy machine they may miss each other, or time out while
        they wait for each other: then once more; `until_healthy` False: not after one has failed.
        """
        operations: tuple[int, ...] = ()
        healthy = visible = True
        for _ in range(WARM_UPS):
            numbered = self.numbers.take(together)
            operations += numbered
            met, seen, outcomes = await _together(stage, numbered)
            well = all(outcome.kind is Kind.OK for outcome in outcomes)
            healthy = healthy and well
            visible = seen or not met
            if (met and well) or not (well or until_healthy):
                break
        return WarmUp(sockets=await most_sockets(stage), operations=operations, healthy=healthy, visible=visible)

    async def again(self, stage: Stage, together: int) -> int:
        """So many in flight together once more. Returns how many of them met on one upstream: so many sockets it may
        hold there. A connection that it has forgotten serves none of them, and is one too many.
        """
        return (await self._once_more(stage, together))[1]

    async def at_once(self, stage: Stage, together: int) -> int:
        """The same; 0 where they were not all in flight at once, for then fewer sockets are enough."""
        met, most = await self._once_more(stage, together)
        return most if met else 0

    async def _once_more(self, stage: Stage, together: int) -> tuple[bool, int]:
        numbered = self.numbers.take(together)
        since = len(stage.entries())
        met, _, _ = await _together(stage, numbered)
        return met, most_met(stage.entries(since=since), numbered)


class _Aside:
    """The instance on which one that keeps nothing between operations but its pool is measured, at one concurrency
    after the other: each start of it may cost an interpreter. On another way it is another one.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._turn = asyncio.Lock()
        self._leaving = AsyncExitStack()
        self._stage: Stage | None = None
        self._way = PLAIN

    async def filled(self, way: Way, fill: _Fill) -> WarmUp:
        """What comes of filling it, when no connection of it is open. One that was in bad health is not used again.

        Raises SubjectError.
        """
        async with self._turn:
            if self._stage is None or self._way != way:
                await self.close()
                self._stage, self._way = await self._leaving.enter_async_context(self._stages.one(way=way)), way
            healthy = False
            try:
                warm = await fill(self._stage)
                healthy = warm.healthy
                await self._stage.close_idle()
                return warm
            finally:
                if not healthy:
                    await self.close()

    async def close(self) -> None:
        """It runs no more. Safe to call twice."""
        self._stage = None
        await to_the_end(self._leaving.aclose())


async def most_sockets(stage: Stage) -> int:
    """How many sockets the subject holds to the upstream to which it holds most."""
    return max(await stage.counts.towards(stage.ports))


def most_met(entries: Sequence[AnyEntry], operations: Collection[int]) -> int:
    """How many of these operations were received on the upstream on which most were."""
    received = [entry for entry in entries if isinstance(entry, Received) and entry.operation in operations]
    met = Counter(upstream for upstream, _ in {(entry.upstream, entry.operation) for entry in received})
    return max(met.values(), default=0)


async def _together(stage: Stage, operations: tuple[int, ...]) -> tuple[bool, bool, list[Outcome]]:
    """Whether all were in flight together, whether sockets of the subject were seen then, and how they ended. A subject
    that sends one at a time never gets there: half its read timeout is the limit.
    """
    plan = Plan(name="warm-up", tls=stage.router.tls, operations=(PlannedOperation(gate=_GATE),) * len(operations))
    spec = stage.subject.spec
    since = await stage.on_router(lambda router: arm(router, plan, operations[0], spec.read_timeout_ms))
    calls = [asyncio.ensure_future(stage.instance.call(spec.plain, number, spec.ceiling_ms)) for number in operations]
    try:
        together = await stage.all_received(len(operations), since=since, within_ms=spec.read_timeout_ms // 2)
        seen = not spec.standing or await most_sockets(stage) > 0  # all others run on this machine
        await stage.on_router(lambda router: router.open_gate(_GATE))
        outcomes = await asyncio.gather(*calls)
    finally:
        for call in calls:
            call.cancel()
    await stage.on_router(lambda router: router.heal())
    return together, seen, outcomes


def arm(router: Router, plan: Plan, first: int, read_timeout_ms: int) -> int:
    """Arm it with the plan; the place in its ledger from which on the plan may strike."""
    since = len(router.ledger)
    router.arm(plan, first_operation=first, read_timeout_ms=read_timeout_ms)
    return since
