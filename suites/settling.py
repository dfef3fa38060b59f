"""When a run is over: no exchange that carries an operation is open, and the subject is idle, or quiet."""

import asyncio
import time

from fake_router.entries import Dialled, Opened, Received, Striking, Unserved
from fake_router.server import Router
from suites.stage import Stage
from suites.subject import SubjectSpec

IDLE_STEP_S = 0.005


async def settle(stage: Stage, spec: SubjectSpec) -> bool:
    """Wait until the run is over; False when the ceiling ends it first. Health probes do not count."""
    deadline = time.monotonic() + spec.ceiling_ms / 1000
    while (left := deadline - time.monotonic()) > 0:
        if not await stage.all_over(left):
            return False
        if await _idle_or_quiet(stage, spec):
            return True
    return False


async def _idle_or_quiet(stage: Stage, spec: SubjectSpec) -> bool:
    """Nothing is in flight inside the subject (where it can say so), or nothing came for its quiet window."""
    idle = await stage.instance.idle()
    if idle is not None:
        if not idle:
            await asyncio.sleep(IDLE_STEP_S)  # idleness has no event: it is asked for over HTTP
            return False
        return await stage.on_router(lambda router: router.busy()) == 0
    before = await stage.on_router(_sendings)
    await asyncio.sleep((spec.quiet_ms or 0) / 1000)  # the quiet window is this wait
    return await stage.on_router(lambda router: _sendings(router) == before and router.busy() == 0)


def _sendings(router: Router) -> int:
    """How much has come that may carry an operation."""
    kinds = (Received, Unserved, Dialled, Opened, Striking)
    return sum(isinstance(entry, kinds) for entry in router.ledger.since())
