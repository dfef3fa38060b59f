"""Where the runs of one subject take place: a stage for each, or the same one in turns where the subject stands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fake_router.bound import ListenError
from fake_router.thread import RouterThread
from suites.ending import to_the_end
from suites.ground import Ground
from suites.numbers import Numbers
from suites.passage import Toxiproxy
from suites.patience import Patience
from suites.reaching import require_reaching
from suites.socket_counts import SocketCounts
from suites.stage import Stage
from suites.subject import Subject, SubjectError
from suites.way import PLAIN, Way


class Stages:
    """Opens stages. A subject that runs already finds its router where it was told to, from the first turn to the end:
    it listens on, and who wants the stage waits for their turn. What lies before it changes between two turns.
    """

    def __init__(
        self, subject: Subject, routers: RouterThread, numbers: Numbers, toxiproxy: Toxiproxy | None = None
    ) -> None:
        self._subject = subject
        self._numbers = numbers
        self._reaches = False
        self._routers = routers
        self._toxiproxy = toxiproxy
        self._ground: Ground | None = None
        self._leaving = AsyncExitStack()
        self._turn = asyncio.Lock()
        self._asking = asyncio.Lock()
        self._patience = Patience()
        self._counts = SocketCounts()

    @asynccontextmanager
    async def one(self, *, way: Way = PLAIN) -> AsyncIterator[Stage]:
        """A stage with that way to the routers, for as long as this is not left; no subject that stands can be told of
        another than the one that it goes. Raises SubjectError where the subject cannot be had.
        """
        if not self._subject.spec.standing:
            async with self._opened(way) as stage:
                yield stage
            return
        async with self._turn:
            ground = await self._standing_ground(way)
            instance = await self._subject.start(ground.upstreams)
            async with Stage.on(
                ground, self._subject, instance, self._routers, self._toxiproxy, self._patience, self._counts
            ) as stage:
                try:
                    if not self._reaches:
                        await require_reaching(stage, self._numbers)
                        self._reaches = True
                    yield stage
                finally:
                    await to_the_end(stage.leave())

    def reached(self) -> None:
        """An operation of some run has reached its router: nobody need ask any more."""
        self._reaches = True

    async def require_reaching(self) -> None:
        """A healthy operation reaches its router, on a stage of its own; found out once. Raises SubjectError, as all
        runs would else prove nothing.
        """
        async with self._asking:
            if not self._reaches and not self._subject.spec.standing:
                async with self._opened(PLAIN) as stage:
                    await require_reaching(stage, self._numbers)
                self._reaches = True

    def _opened(self, way: Way) -> AbstractAsyncContextManager[Stage]:
        return Stage.open(
            *(self._subject, self._routers),
            way=way,
            toxiproxy=self._toxiproxy,
            patience=self._patience,
            counts=self._counts,
        )

    async def close(self) -> None:
        """The router of a subject that stands listens no more. Safe to call twice."""
        self._ground = None
        await to_the_end(self._leaving.aclose())

    async def _standing_ground(self, way: Way) -> Ground:
        """The same as long as the way is the same."""
        if self._ground is not None and _before(self._ground.way) != _before(way):
            await self.close()
        if self._ground is None:
            opening = Ground.open(self._subject.spec, self._routers, way, self._toxiproxy)
            try:
                self._ground = await self._leaving.enter_async_context(opening)
            except ListenError as error:
                name = self._subject.spec.facts.name
                raise SubjectError(f"{error.strerror}: it is where {name} looks for its router") from None
        return self._ground


def _before(way: Way) -> tuple[object, ...]:
    """What differs where the subject looks for its router, who goes on as it did."""
    return way.toxiproxy, way.under
