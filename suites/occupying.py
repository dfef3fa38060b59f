"""Another operation that holds the only connection of a subject's pool while the plan's own one is called."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fake_router.pooling import POOL_GATE
from faults.plan import Plan, PlannedOperation
from suites.numbers import Numbers
from suites.stage import Stage
from suites.warming import arm

HOLD = 1 / 3  # of the read timeout: it is itself answered in time


@dataclass(slots=True, kw_only=True)
class Occupant:
    """The operation of that number holds the pool, until the router is told to answer it."""

    number: int
    _calling: asyncio.Event = field(default_factory=asyncio.Event)

    def calling(self) -> None:
        """The plan's operations are being called: HOLD begins, for whom nobody waits it can hold up nobody."""
        self._calling.set()

    async def release(self, stage: Stage) -> None:
        """End the hold when it has lasted for its time."""
        await self._calling.wait()
        await asyncio.sleep(HOLD * stage.subject.spec.read_timeout_ms / 1000)  # the fault is this wait
        await stage.on_router(lambda router: router.release_pool())


@asynccontextmanager
async def occupied(stage: Stage, plan: Plan, numbers: Numbers) -> AsyncIterator[Occupant]:
    """The pool is held until this is left and HOLD is over; `calling` must be called meanwhile."""
    (number,) = numbers.take(1)
    spec = stage.subject.spec
    occupant = Occupant(number=number)
    holding = Plan(name="occupant", tls=plan.tls, operations=(PlannedOperation(gate=POOL_GATE),))
    await stage.on_router(lambda router: arm(router, holding, number, spec.read_timeout_ms))
    call = asyncio.ensure_future(stage.instance.call(PlannedOperation(), number, spec.ceiling_ms))
    try:
        await stage.received(number, unless=call)
        release = asyncio.ensure_future(occupant.release(stage))
        try:
            yield occupant
            await release
        finally:
            release.cancel()
        await call
    finally:
        call.cancel()
