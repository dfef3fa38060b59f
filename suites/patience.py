"""How long a subject is waited for until it has closed its end of what the router has ended."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from fake_router.server import Router
from fake_router.thread import RouterThread

NOTICING_MS = 1_000  # how long a subject may take to close its end of an idle connection
LEAST_NOTICING_MS = 50  # and one that does so only when it needs a connection


@dataclass(slots=True)
class Patience:
    """How long a subject is waited for until it has closed its end of what the router has ended. Many pools look only
    when they need a connection, and waiting is in vain: each time half as long, until one has closed it while waited
    for.
    """

    ms: int = NOTICING_MS

    async def until_none(self, router: Router, routers: RouterThread, left: Callable[[Router], int]) -> None:
        """It has ended what was left of these connections, or its time is over."""
        if await routers.call(left, router) == 0:
            return
        ended = await routers.call(none_left, router, left, self.ms)
        self.ms = NOTICING_MS if ended else max(LEAST_NOTICING_MS, self.ms // 2)


async def none_left(router: Router, left: Callable[[Router], int], within_ms: int) -> bool:
    """The subject has ended what was left of these connections; False when that time was over before. For the router's
    own thread.
    """
    deadline = time.monotonic() + within_ms / 1000
    while time.monotonic() < deadline:
        if left(router) == 0:
            return True
        await asyncio.sleep(0.001)  # a peer ends its connections with FIN; one that never does gives no event
    return False
