"""What a subject holds after healing; and whether what it holds beyond its health is lost, or kept for use."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from fake_router.entries import Opened, Struck
from faults.plan import MAX_OPERATIONS, Plan
from suites.run import Run, Sockets
from suites.stage import Stage
from suites.warming import Warmth, WarmUp, most_sockets

CLOSING_MS = 1_000  # how long a subject may take to close what it no longer uses before it counts as a leak
CLOSING_STEP_S = 0.01
MORE = 2  # how often a plan is lived through again: what is lost each time grows each time


async def held_after(
    stage: Stage, plan: Plan, warm_up: WarmUp, warmth: Warmth, *, allowed: int, together: int
) -> Sockets:
    """What it may hold (as many as in health, or as are allowed for another reason), and what it holds. Where more than
    one operation was ever in flight, a pool may be large enough to hide what was lost of it: then as many together once
    more need all of it.
    """
    if not warm_up.visible:
        return Sockets(elsewhere=True)
    if warm_up.yardstick is None:
        return Sockets()
    limit = max(warm_up.yardstick, allowed)
    if together > 1:
        limit = max(limit, await warmth.again(stage, together))
    return Sockets(warm=limit, healed=await _left(stage, plan, limit))


async def _left(stage: Stage, plan: Plan, limit: int) -> int:
    """Open sockets to one upstream, once the subject has had its time to close what it no longer uses. It
    cannot hold more than it ever opened; only beyond that is the kernel asked, which takes a millisecond.
    """
    opened = Counter(entry.upstream for entry in stage.entries() if isinstance(entry, Opened))
    most_opened = max(opened.values(), default=0)
    if most_opened <= limit and not plan.listeners:  # a faulty listener may never have seen a socket
        return most_opened
    return await _closing(stage, limit)


async def _closing(stage: Stage, limit: int) -> int:
    deadline = time.monotonic() + CLOSING_MS / 1000
    left = await most_sockets(stage)
    while left > limit and time.monotonic() < deadline:
        await asyncio.sleep(CLOSING_STEP_S)  # no event: the kernel tells nobody of foreign sockets
        left = await most_sockets(stage)
    return left


async def looked_into(run: Run, stage: Stage, warmth: Warmth, live_again: Callable[[int], Awaitable[Run]]) -> Run:
    """The run, with what is known of sockets beyond those that health needs. One pool in each layer, or two sendings
    that overlapped, leave more of them once; a leak leaves more each time. What it takes to know is none of the run's.
    live_again: lives through the plan once more, where so many sockets are allowed.
    """
    warm, healed = run.sockets.warm, run.sockets.healed
    if warm is None or healed is None or not run.sockets.beyond_health or stage.instance.died() is not None:
        return run
    if run.plan.listeners:  # to meet its fault every connection is ended first, and with it what was lost
        return replace(run, sockets=await _all_used(stage, warm, healed, warmth))
    again: list[int] = []
    for _ in range(MORE):
        once_more = await live_again(healed)
        left = once_more.sockets.healed
        if left is None or not any(isinstance(entry, Struck) for entry in once_more.ledger):
            return run  # that says nothing of what a fault leaves
        again.append(left)
        if left > healed:
            break
    return replace(run, sockets=replace(run.sockets, again=tuple(again)))


async def _all_used(stage: Stage, warm: int, healed: int, warmth: Warmth) -> Sockets:
    """As many operations together as it holds sockets use each of them, unless one is lost: then it opens another."""
    met = await warmth.at_once(stage, min(MAX_OPERATIONS, healed * len(stage.ports)))
    limit = max(warm, met)
    return Sockets(warm=limit, healed=await _closing(stage, limit))
