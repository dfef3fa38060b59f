"""Where scripts are lived through: one router and one server for each storage, shared by scripts that come one by one,
and replaced when one of them has broken it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Self

from fake_router.server import Router
from fake_router.thread import RouterThread
from suites.ending import to_the_end
from suites.futures.gates import Gates
from suites.futures.host import OwnHost
from suites.futures.offer import Storage
from suites.futures.player import Player
from suites.futures.record import Record
from suites.futures.script import Script
from suites.ground import HOST, Ground, required
from suites.numbers import Numbers
from suites.passage import Passage, Toxiproxy
from suites.subject import SubjectSpec
from suites.way import PLAIN, Upstreams, Way

FIRST_MS = 1_700_000_000_000  # what a test clock shows at first


OpenHost = Callable[[Storage, Upstreams], OwnHost]  # a server that forwards to these addresses, not begun yet


class _Stage:
    """One router with one server in front of it. through: the server's way to it through Toxiproxy; front: that of the
    callers to the server.
    """

    def __init__(
        self,
        router: Router,
        host: OwnHost,
        leaving: AsyncExitStack,
        *,
        through: Passage | None = None,
        front: Passage | None = None,
    ) -> None:
        self.router = router
        self.host = host
        self.leaving = leaving
        self.now_ms = FIRST_MS
        self.through = through
        self.front = front


class Theatre:
    """An async context manager; all its methods belong to one loop."""

    def __init__(
        self,
        spec: SubjectSpec,
        routers: RouterThread,
        open_host: OpenHost,
        *,
        way: Way = PLAIN,
        toxiproxy: Toxiproxy | None = None,
    ) -> None:
        self._spec = spec
        self._routers = routers
        self._open_host = open_host
        self._way = way
        self._toxiproxy = toxiproxy
        self._numbers = Numbers()
        self._stages: dict[Storage, _Stage] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with AsyncExitStack() as stack:
            for storage in tuple(self._stages):
                stack.push_async_callback(self._close, storage)

    async def enter(self, storage: Storage, *, fresh: bool = False) -> Player:
        """A player for one script; fresh: on a server that nothing has happened to. Raises SubjectError where it cannot
        be begun.
        """
        if fresh and storage in self._stages:
            await self._close(storage)
        stage = self._stages.get(storage) or await self._open(storage)
        gates = await Gates.fresh(stage.router, self._routers, self._spec.read_timeout_ms)
        front = None if stage.front is None else (HOST, stage.front.ports[0])
        direct = stage.front is None and stage.through is None
        return Player(stage.host, gates, self._numbers, now_ms=stage.now_ms, front=front, direct=direct)

    def hops(self, storage: Storage) -> tuple[Passage | None, Passage | None]:
        """The ways through Toxiproxy of that server: to its router, and from its callers."""
        stage = self._stages[storage]
        return stage.through, stage.front

    async def leave(self, player: Player, storage: Storage) -> None:
        """The script is over. A server on which anything is still under way, or that does not say so, is closed."""
        await to_the_end(player.close())
        if not player.broken and await player.rests():
            self._stages[storage].now_ms = player.lives.now_ms
        else:
            await to_the_end(self._close(storage))

    async def play(self, script: Script, *, fresh: bool = False) -> Record:
        """That script, to its end; on a server that nothing has happened to where that is asked for, or needed."""
        player = await self.enter(script.storage, fresh=fresh or script.alone)
        try:
            for step in script.steps:
                await player.perform(step)
            await player.finish()
            return player.record(script)
        finally:
            await self.leave(player, script.storage)

    async def _open(self, storage: Storage) -> _Stage:
        async with AsyncExitStack() as stack:
            ground = await stack.enter_async_context(Ground.open(self._spec, self._routers, self._way, self._toxiproxy))
            host = self._open_host(storage, ground.upstreams)
            stack.push_async_callback(host.close)
            await host.begin(FIRST_MS)
            front = await stack.enter_async_context(self._front(host))
            stage = _Stage(ground.router, host, stack.pop_all(), through=ground.through, front=front)
        self._stages[storage] = stage
        return stage

    @asynccontextmanager
    async def _front(self, host: OwnHost) -> AsyncIterator[Passage | None]:
        if not self._way.under_caller:
            yield None
            return
        address = host.endpoint.address
        async with Passage.open(required(self._toxiproxy), (address,), self._way.under_caller) as front:
            yield front

    async def _close(self, storage: Storage) -> None:
        await to_the_end(self._stages.pop(storage).leaving.aclose())
