"""A router and an instance of the subject in front of it, for one run or for several."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fake_router.entries import AnyEntry, Closed, Received, Striking
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.catalogue import fault_named
from faults.handshake import ShowCertificate
from suites.ending import to_the_end
from suites.ground import HOST, Ground, required
from suites.passage import Passage, Toxiproxy
from suites.patience import NOTICING_MS, Patience, none_left
from suites.socket_counts import SocketCounts
from suites.subject import CalledOverHttp, Instance, Subject
from suites.way import PLAIN, Way

T = TypeVar("T")

LATE_MS = 100  # how long connections are still read when their subject was told to stop


@dataclass(slots=True, kw_only=True)
class Stage:
    """Both ends of the hop. The router lives on the routers' thread and is only touched there. through: the subject's
    way to it through Toxiproxy; front: that of the callers to the subject.
    """

    subject: Subject
    instance: Instance
    router: Router
    routers: RouterThread
    through: Passage | None = None
    front: Passage | None = None
    patience: Patience = field(default_factory=Patience)
    counts: SocketCounts = field(default_factory=SocketCounts)

    @staticmethod
    @asynccontextmanager
    async def open(
        subject: Subject,
        routers: RouterThread,
        *,
        way: Way = PLAIN,
        toxiproxy: Toxiproxy | None = None,
        patience: Patience | None = None,
        counts: SocketCounts | None = None,
    ) -> AsyncIterator["Stage"]:
        """Start both, and end both whatever happens. Raises SubjectError, and ToxiproxyError for a way through it."""
        async with Ground.open(subject.spec, routers, way, toxiproxy) as ground:
            instance = await subject.start(ground.upstreams)
            try:
                shared = patience or Patience(), counts or SocketCounts()
                async with Stage.on(ground, subject, instance, routers, toxiproxy, *shared) as stage:
                    yield stage
            finally:
                await to_the_end(instance.stop())
                await to_the_end(_read_the_rest(ground.router, routers))

    @staticmethod
    @asynccontextmanager
    async def on(
        ground: Ground,
        subject: Subject,
        instance: Instance,
        routers: RouterThread,
        toxiproxy: Toxiproxy | None,
        patience: Patience,
        counts: SocketCounts,
    ) -> AsyncIterator["Stage"]:
        """The same of an instance that runs. Raises ToxiproxyError."""
        async with _front(instance, ground.way, toxiproxy) as front:
            yield Stage(
                subject=subject,
                instance=instance,
                router=ground.router,
                routers=routers,
                through=ground.through,
                front=front,
                patience=patience,
                counts=counts,
            )

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports at which the subject reaches its upstreams."""
        return self.router.ports if self.through is None else self.through.ports

    @property
    def passage(self) -> Passage:
        """Its way through Toxiproxy. Raises ValueError where it has none."""
        if self.through is None:
            raise ValueError("a toxic on a way that does not lead through Toxiproxy; expected one that does")
        return self.through

    async def overlaid(self) -> bool:
        """What is laid over its hops still lies there."""
        return all([await each.overlaid() for each in (self.through, self.front) if each is not None])

    async def on_router(self, act: Callable[[Router], T]) -> T:
        """Do something with the router, on its own thread."""
        return await self.routers.call(act, self.router)

    async def all_over(self, within_s: float) -> bool:
        """No exchange that carries an operation is open any more, before that time is over."""
        return await self.routers.call(self.router.wait_idle, within_s)

    async def all_received(self, count: int, *, since: int, within_ms: int) -> bool:
        """That many requests have been received since that place in the ledger, before that time is over."""

        async def there() -> bool:
            deadline = time.monotonic() + within_ms / 1000
            while _received(self.router, since) < count:
                if time.monotonic() > deadline:
                    return False
                await asyncio.sleep(0.001)  # a subject that never sends them all gives no event to wait for
            return True

        return await self.routers.call(there)

    async def received(self, operation: int, *, unless: asyncio.Future[Any]) -> None:
        """That operation has been received, or that other thing has happened."""
        waiting = asyncio.ensure_future(self.routers.call(self.router.wait_received, operation))
        try:
            await asyncio.wait((waiting, unless), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    async def held(self, gate: str) -> None:
        """Something is held at that gate."""
        await self.routers.call(self.router.wait_held, gate)

    async def poisons_over(self, upstreams: set[int]) -> set[int]:
        """Those of them where a connection on which a toxic may have struck has ended. The first has its time to do so;
        of the others it is waited for as long as an end is on its way: what was sent on none of them ends none.
        """
        deadline = time.monotonic() + NOTICING_MS / 1000
        while True:
            over = upstreams & await self.on_router(lambda router: router.between.poisons_over())
            left = upstreams - over
            if not left or time.monotonic() > deadline:
                return over
            if over and not any([await self._end_on_its_way(one) for one in left]):
                return over
            await asyncio.sleep(0.001)  # Toxiproxy ends one side before the other

    async def _end_on_its_way(self, upstream: int) -> bool:
        """The subject has ended connections there whose end has not come to the router, or the other way round."""
        open_there = await self.on_router(lambda router: router.connections(upstream))
        (held,) = await self.counts.towards((self.ports[upstream],))
        return held != open_there

    async def greetings_over(self) -> None:
        """Whom a certificate was shown to has ended its connection, or has had its time to do so."""
        deadline = time.monotonic() + NOTICING_MS / 1000
        while shown_to_no_end(self.entries()):
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(0.001)  # Toxiproxy ends one side before the other

    async def close_idle(self) -> None:
        """Every idle connection is closed from the router's side, and the subject has had its time to notice."""
        await self.on_router(lambda router: router.drop_idle())
        await self.patience.until_none(self.router, self.routers, Router.connections)
        await self._passed_on()

    async def noticed(self) -> None:
        """The subject has ended its side of what the router has ended, or has had its time to do so."""
        await self.patience.until_none(self.router, self.routers, Router.ending)
        await self._passed_on()

    async def _passed_on(self) -> None:
        """Toxiproxy has ended its side of what it was passed on as ended, and the subject has let go of it."""
        if self.through is None:
            return
        deadline = time.monotonic() + NOTICING_MS / 1000
        while True:
            held = await self.counts.held(self.ports)
            open_there = await self.routers.call(Router.connections, self.router)
            left_s = deadline - time.monotonic()
            if len(held) <= open_there or not await self.counts.let_go(held, down_to=open_there, within_s=left_s):
                return

    async def leave(self) -> None:
        """Nothing of the runs that were here is left on it for those that come: no fault, and no open connection."""
        await self.on_router(lambda router: router.drain())
        await self.on_router(lambda router: router.heal())
        await self.close_idle()

    def entries(self, *, since: int = 0) -> tuple[AnyEntry, ...]:
        """The ledger from that place on. Appending is atomic, so reading from another thread is safe."""
        return self.router.ledger.since(since)


@asynccontextmanager
async def _front(instance: Instance, way: Way, toxiproxy: Toxiproxy | None) -> AsyncIterator[Passage | None]:
    """The way of its callers to an instance through Toxiproxy, where that is asked for."""
    if not way.under_caller:
        yield None
        return
    if not isinstance(instance, CalledOverHttp):
        raise ValueError(f"toxics between a caller and {instance!r}; expected a subject that is called over HTTP")
    async with Passage.open(required(toxiproxy), (instance.address,), way.under_caller) as front:
        instance.call_through((HOST, front.ports[0]))
        yield front


async def _read_the_rest(router: Router, routers: RouterThread) -> None:
    """What a stopped subject has left in its connections is read before they are closed. One that cannot be stopped
    keeps them open: then for LATE_MS.
    """

    async def there() -> None:
        router.drain()
        await none_left(router, Router.connections, LATE_MS)

    await routers.call(there)


def shown_to_no_end(entries: Sequence[AnyEntry]) -> bool:
    """A certificate struck a connection of which nothing has come since: no request, and no end."""
    known = {entry.connection for entry in entries if isinstance(entry, Received | Closed)}
    return any(
        isinstance(entry, Striking)
        and isinstance(fault_named(entry.fault).act, ShowCertificate)
        and entry.connection not in known
        for entry in entries
    )


def _received(router: Router, since: int) -> int:
    return sum(isinstance(entry, Received) for entry in router.ledger.since(since))
