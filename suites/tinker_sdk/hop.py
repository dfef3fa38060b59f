"""The hop from the SDK to the server, through a proxy of a real Toxiproxy."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from faults.toxics import Direction, Toxic
from suites.ending import to_the_end
from suites.passage import COUNTING_MS, COUNTING_STEP_S, Server, Toxiproxy
from suites.way import Address


class Hop:
    """Made by `open`. Whatever Toxiproxy refuses raises its ToxiproxyError."""

    def __init__(self, server: Server, proxy: Any) -> None:
        self.address: Address = proxy.listen
        self._client = server.client
        self._proxy = proxy
        self._laid: list[Any] = []

    @staticmethod
    @asynccontextmanager
    async def open(toxiproxy: Toxiproxy, upstream: Address) -> AsyncIterator["Hop"]:
        """A hop to that address, until this is left."""
        async with toxiproxy.serving() as server:
            proxy = await server.add_proxy(upstream)
            try:
                yield Hop(server, proxy)
            finally:
                await to_the_end(server.remove_proxy(proxy))

    async def lay(self, toxic: Toxic) -> None:
        """It lies over every connection when this returns."""
        self._laid.append(await self._client.lay(self._proxy, toxic))

    async def lift(self, leaving: int = 0) -> None:
        """All pass again, but for what the first `leaving` toxics do."""
        while len(self._laid) > leaving:
            await self._client.lift(self._laid.pop())

    async def lost(self, direction: Direction) -> int:
        """How many bytes came in that direction and never left, of connections that are over. Some, where it is not 0:
        Toxiproxy counts a while after the end.
        """
        deadline = time.monotonic() + COUNTING_MS / 1000
        while True:
            lost = await self._client.lost(self._proxy)
            if lost[direction] or time.monotonic() > deadline:
                return lost[direction]
            await asyncio.sleep(COUNTING_STEP_S)  # nobody tells when it has counted
