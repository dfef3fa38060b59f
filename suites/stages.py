"""Where the runs of one subject take place: a stage for each, or the same one in turns where the subject stands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fake_router.bound import ListenError
from fake_router.server import Router
from fake_router.thread import RouterThread
from suites.numbers import Numbers
from suites.passage import Toxiproxy
from suites.reaching import require_reaching
from suites.stage import Patience, Stage, to_the_end
from suites.subject import Subject, SubjectError
from suites.way import PLAIN, Way


class Stages:
    """Opens stages. A subject that runs already finds its router where it was told to, from the first turn to the end:
    that router listens on, and who wants the stage waits for their turn.
    """

    def __init__(
        self, subject: Subject, routers: RouterThread, numbers: Numbers, toxiproxy: Toxiproxy | None = None
    ) -> None:
        self._subject = subject
        self._numbers = numbers
        self._reaches = False
        self._routers = routers
        self._toxiproxy = toxiproxy
        self._router: Router | None = None
        self._turn = asyncio.Lock()
        self._patience = Patience()

    @asynccontextmanager
    async def one(self, *, way: Way = PLAIN) -> AsyncIterator[Stage]:
        """A stage with that way to the routers, for as long as this is not left; no subject that stands can be told of
        another than the one that it goes. Raises SubjectError where the subject cannot be had.
        """
        if not self._subject.spec.standing:
            async with Stage.open(
                self._subject, self._routers, way=way, toxiproxy=self._toxiproxy, patience=self._patience
            ) as stage:
                yield stage
            return
        async with self._turn:
            router = await self._standing_router()
            instance = await self._subject.start([(router.host, port) for port in router.ports])
            stage = Stage(
                subject=self._subject,
                instance=instance,
                router=router,
                routers=self._routers,
                patience=self._patience,
            )
            try:
                if not self._reaches:
                    await require_reaching(stage, self._numbers)
                    self._reaches = True
                yield stage
            finally:
                await to_the_end(stage.leave())

    async def close(self) -> None:
        """The router of a subject that stands listens no more. Safe to call twice."""
        if self._router is not None:
            await to_the_end(self._routers.call(self._router.close))
            self._router = None

    async def _standing_router(self) -> Router:
        if self._router is None:
            listen, probes = self._subject.spec.listen, self._subject.spec.probes
            ports = [port for _, port in listen]
            router = Router(
                upstreams=len(ports),
                host=listen[0][0],
                ports=ports,
                identity=self._subject.spec.identity,
                probes=probes,
            )
            try:
                await self._routers.call(router.start)
            except ListenError as error:
                name = self._subject.spec.facts.name
                raise SubjectError(f"{error.strerror}: it is where {name} looks for its router") from None
            except BaseException:
                await to_the_end(self._routers.call(router.close))  # it was cancelled while it started
                raise
            self._router = router
        return self._router
