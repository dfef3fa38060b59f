"""How many sockets a subject holds, as the kernel says: one look answers all who wait for one."""

import asyncio
import time
from collections import Counter
from collections.abc import Collection

from fake_router.kernel import sockets_by_port

LOOK_S = 0.005  # from the beginning of one look to that of the next: each takes a millisecond of one core


class SocketCounts:
    """Looks at the kernel on another thread, never more than once at a time, and never for one port alone."""

    def __init__(self) -> None:
        self._ports: set[int] = set()  # asked for in the look that has not begun
        self._coming: asyncio.Task[Counter[int]] | None = None
        self._turn = asyncio.Lock()
        self._looked_s = 0.0

    async def towards(self, ports: Collection[int]) -> tuple[int, ...]:
        """How many sockets towards each of these ports are open, in a look that began after this was called
        (`fake_router/kernel.py`). Raises OSError when the kernel has no sock_diag.
        """
        self._ports.update(ports)
        if self._coming is None:
            self._coming = asyncio.ensure_future(self._look())
        found = await asyncio.shield(self._coming)  # others wait for it too
        return tuple(found[port] for port in ports)

    async def _look(self) -> Counter[int]:
        async with self._turn:
            await asyncio.sleep(self._looked_s + LOOK_S - time.monotonic())
            ports, self._ports, self._coming = self._ports, set(), None
            self._looked_s = time.monotonic()
            return await asyncio.to_thread(sockets_by_port, ports)
