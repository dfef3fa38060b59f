"""How many sockets a subject holds, as the kernel says: one look answers all who wait for one."""

import asyncio
import time
from collections import Counter
from collections.abc import Collection

from fake_router.kernel import held_towards, still_held
from fake_router.sock_diag import TcpSocket

LOOK_S = 0.005  # from the beginning of one look to that of the next: each takes a millisecond of one core


class SocketCounts:
    """Looks at the kernel on another thread, never more than once at a time, and never for one port alone."""

    def __init__(self) -> None:
        self._ports: set[int] = set()  # asked for in the look that has not begun
        self._coming: asyncio.Task[tuple[TcpSocket, ...]] | None = None
        self._turn = asyncio.Lock()
        self._looked_s = 0.0

    async def towards(self, ports: Collection[int]) -> tuple[int, ...]:
        """How many sockets towards each of these ports are open, in a look that began after this was called
        (`fake_router/kernel.py`). Raises OSError when the kernel has no sock_diag.
        """
        found = Counter(one.remote_port for one in await self.held(ports))
        return tuple(found[port] for port in ports)

    async def held(self, ports: Collection[int]) -> tuple[TcpSocket, ...]:
        """The sockets that `towards` counts. Raises OSError when the kernel has no sock_diag."""
        wanted = set(ports)
        self._ports |= wanted
        if self._coming is None:
            self._coming = asyncio.ensure_future(self._look())
        found = await asyncio.shield(self._coming)  # others wait for it too
        return tuple(one for one in found if one.remote_port in wanted)

    async def let_go(self, sockets: tuple[TcpSocket, ...], *, down_to: int, within_s: float) -> bool:
        """No more of these are held than so many, before that time is over. To ask for each costs 1 % of a look.

        Raises OSError when the kernel has no sock_diag.
        """
        deadline = time.monotonic() + within_s
        while len(sockets) > down_to:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.002)  # no event: the kernel tells nobody of foreign sockets
            sockets = still_held(sockets)
        return True

    async def _look(self) -> tuple[TcpSocket, ...]:
        async with self._turn:
            await asyncio.sleep(self._looked_s + LOOK_S - time.monotonic())
            ports, self._ports, self._coming = self._ports, set(), None
            self._looked_s = time.monotonic()
            return await asyncio.to_thread(held_towards, ports)
