"""Toxiproxy servers of ours, each followed by a fresh one in time: the count of lost bytes is a list of all proxies
that a server ever had, and takes longer with each of them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType

from suites.ending import to_the_end
from suites.processes import Supervisor
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import Source, Standing

MOST_PROXIES = 400  # of one server: its count takes 8 ms then, and its successor 40 ms to come


@dataclass(slots=True, kw_only=True)
class _Term:
    """One server, from its start until the last who uses it has left."""

    server: ToxiproxyServer
    leaving: AsyncExitStack
    users: int = field(default=0)

    async def end(self, why: BaseException | None = None) -> None:
        """`why`: what ends its work, which may be told what is left of it."""
        kind, trace = (None, None) if why is None else (type(why), why.__traceback__)
        await to_the_end(self._leave(kind, why, trace))

    async def _leave(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leaving.__aexit__(kind, why, trace)


class Succession:
    """Made by `open`. Who is served stays with one server; who comes after its MOST_PROXIES gets the next. A server
    that stands already is not ours to replace, and has no successor.
    """

    def __init__(self, supervisor: Supervisor, source: Source) -> None:
        self._supervisor = supervisor
        self._source = source
        self._terms: list[_Term] = []  # the last is the one that is used from now on
        self._changing = asyncio.Lock()

    @staticmethod
    @asynccontextmanager
    async def open(supervisor: Supervisor, source: Source) -> AsyncIterator["Succession"]:
        """Until this is left; then all of them are gone. Raises ToxiproxyError, here and from `serving`."""
        succession = Succession(supervisor, source)
        try:
            await succession._change()
            yield succession
        except BaseException as error:
            for term in tuple(succession._terms):
                await term.end(error)
            raise
        for term in tuple(succession._terms):
            await term.end()

    @property
    def now(self) -> ToxiproxyServer:
        """The server that is used from now on."""
        return self._terms[-1].server

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[ToxiproxyServer]:
        """One server, which stays until this is left."""
        async with self._changing:
            if self.now.made >= MOST_PROXIES and not isinstance(self._source, Standing):
                await self._change()
            term = self._terms[-1]
            term.users += 1
        try:
            yield term.server
        finally:
            term.users -= 1
            await self._end_unused()

    async def _change(self) -> None:
        leaving = AsyncExitStack()
        server = await leaving.enter_async_context(ToxiproxyServer.open(self._supervisor, self._source))
        self._terms.append(_Term(server=server, leaving=leaving))
        await self._end_unused()

    async def _end_unused(self) -> None:
        for term in self._terms[:-1]:
            if term.users == 0 and term in self._terms:
                self._terms.remove(term)
                await term.end()
