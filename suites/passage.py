"""One hop of a stage through Toxiproxy: a proxy before each address that it leads to, and what is laid over them."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import zip_longest
from typing import Any, Protocol

from faults.toxics import Direction, Toxic
from faults.under import Overlay
from suites.ending import to_the_end
from suites.way import Address

COUNTING_MS = 1_000  # how long Toxiproxy may take to count what came through a connection that is over
COUNTING_STEP_S = 0.005


class Client(Protocol):
    """What is asked of Toxiproxy's API (`suites/toxiproxy/client.py`)."""

    async def lay(self, proxy: Any, toxic: Toxic) -> Any:
        """Lay a toxic over a proxy."""

    async def lift(self, laid: Any) -> None:
        """Take it away."""

    async def lying(self, proxy: Any, toxics: Sequence[Toxic]) -> bool:
        """Each of these lies over it, as it was described."""

    async def lost(self, proxy: Any) -> Mapping[Direction, int]:
        """How many bytes were lost."""


class Server(Protocol):
    """One server (`suites/toxiproxy/server.py`)."""

    @property
    def client(self) -> Client:
        """Its API."""

    async def add_proxy(self, upstream: Address, listen: Address | None = None) -> Any:
        """A proxy to that address; anywhere, or there."""

    async def remove_proxy(self, proxy: Any) -> None:
        """It is gone."""


class Toxiproxy(Protocol):
    """Servers one after another (`suites/toxiproxy/succession.py`), or one; imported only where it is used."""

    def serving(self) -> AbstractAsyncContextManager[Server]:
        """A server that stays for as long as this is not left."""


class Passage:
    """Made by `open`. Whatever Toxiproxy refuses raises its ToxiproxyError: nothing was proved then."""

    def __init__(self, client: Client, proxies: Sequence[Any], under: Sequence[Overlay]) -> None:
        self.ports = tuple(proxy.listen[1] for proxy in proxies)
        self._under = tuple(overlay.toxic for overlay in under)
        self._client = client
        self._proxies = tuple(proxies)
        self._laid: dict[int, Any] = {}
        self._lost_before: dict[int, Mapping[Direction, int]] = {}

    @staticmethod
    @asynccontextmanager
    async def open(
        toxiproxy: Toxiproxy, upstreams: Sequence[Address], under: Sequence[Overlay], *, listen: Sequence[Address] = ()
    ) -> AsyncIterator["Passage"]:
        """Proxies to these addresses, with these toxics over all of them, until this is left. listen: where they are,
        one for each; empty: anywhere. Raises ListenError where one cannot be there.
        """
        proxies: list[Any] = []
        async with toxiproxy.serving() as server:
            try:
                for upstream, there in zip_longest(upstreams, listen):
                    proxies.append(await server.add_proxy(upstream, there))
                    for overlay in under:
                        await server.client.lay(proxies[-1], overlay.toxic)
                yield Passage(server.client, proxies, under)
            except BaseException:
                with suppress(Exception):  # what ends it says more than what comes of cleaning up
                    await to_the_end(_remove(server, proxies))
                raise
            await to_the_end(_remove(server, proxies))

    async def poison(self, place: int, toxic: Toxic) -> None:
        """Set a toxic on the way to that port; it is in force when this returns."""
        self._lost_before[place] = await self._client.lost(self._proxies[place])
        self._laid[place] = await self._client.lay(self._proxies[place], toxic)

    async def poisoned(self) -> set[int]:
        """The places at which Toxiproxy says that what was set is still there."""
        return {
            place for place, laid in self._laid.items() if await self._client.lying(self._proxies[place], (laid.toxic,))
        }

    async def overlaid(self) -> bool:
        """Toxiproxy says that what was laid over all of it is still there."""
        return all([await self._client.lying(proxy, self._under) for proxy in self._proxies if self._under])

    async def lost(self, place: int, direction: Direction) -> int:
        """How many bytes came to Toxiproxy in that direction, since the toxic was set, and never left it. It counts a
        connection when that is over.
        """
        deadline = time.monotonic() + COUNTING_MS / 1000
        before = self._lost_before[place][direction]
        while (lost := (await self._client.lost(self._proxies[place]))[direction] - before) <= 0:
            if time.monotonic() > deadline:
                return 0
            await asyncio.sleep(COUNTING_STEP_S)  # nobody tells when it has counted
        return lost

    async def lift(self) -> None:
        """What was set is gone; what was laid over all of it stays."""
        for place in tuple(self._laid):
            await self._client.lift(self._laid.pop(place))


async def _remove(server: Server, proxies: Sequence[Any]) -> None:
    """All of them, whatever becomes of one. Raises the first error."""
    done = await asyncio.gather(*map(server.remove_proxy, proxies), return_exceptions=True)
    for error in done:
        if error is not None:
            raise error
