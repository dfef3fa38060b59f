"""Another operation that holds the only connection of a subject's pool while the plan's own one is called."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fake_router.pooling import POOL_GATE
from faults.plan import Plan, PlannedOperation
from suites.numbers import Numbers
from suites.stage import Stage
from suites.warming import arm

HOLD = 1 / 3  # of the read timeout: it is itself answered in time


@asynccontextmanager
async def occupied(stage: Stage, plan: Plan, numbers: Numbers) -> AsyncIterator[int]:
    """The pool is held as long as this is not left and HOLD is not over; its operation's number."""
    (number,) = numbers.take(1)
    spec = stage.subject.spec
    holding = Plan(name="occupant", tls=plan.tls, operations=(PlannedOperation(gate=POOL_GATE),))
    await stage.on_router(lambda router: arm(router, holding, number, spec.read_timeout_ms))
    call = asyncio.ensure_future(stage.instance.call(PlannedOperation(), number, spec.ceiling_ms))
    try:
        await stage.received(number, unless=call)
        release = asyncio.ensure_future(_release(stage, HOLD * spec.read_timeout_ms / 1000))
        try:
            yield number
            await release
        finally:
            release.cancel()
        await call
    finally:
        call.cancel()


async def _release(stage: Stage, after_s: float) -> None:
    await asyncio.sleep(after_s)  # the fault is this wait
    await stage.on_router(lambda router: router.release_pool())
