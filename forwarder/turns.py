"""Turns at something that goes wrong when too many do it at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """So many at a time, in the order in which they came. Who has waited for `longest_s` goes on all the same: what
    those before it wait for may never come.
    """

    def __init__(self, most: int, *, longest_s: float) -> None:
        self._free = asyncio.Semaphore(most)
        self._longest_s = longest_s

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and give it back."""
        got = await self._got()
        try:
            yield
        finally:
            if got:
                self._free.release()

    async def _got(self) -> bool:
        if not self._free.locked():
            return await self._free.acquire()
        try:
            async with asyncio.timeout(self._longest_s):
                return await self._free.acquire()
        except TimeoutError:
            return False
