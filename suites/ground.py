"""What a subject finds where it looks for its routers: they themselves, or Toxiproxy's proxies to them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fake_router.identity import IDENTITY, Identity
from fake_router.name_server import name_of_upstream
from fake_router.server import Router
from fake_router.thread import RouterThread
from suites.ending import to_the_end
from suites.passage import Passage, Toxiproxy
from suites.subject import SubjectSpec
from suites.way import Upstreams, Way

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A router that listens, and what leads to it. The router is only touched on the routers' thread."""

    router: Router
    way: Way
    through: Passage | None = None

    @staticmethod
    @asynccontextmanager
    async def open(
        spec: SubjectSpec, routers: RouterThread, way: Way, toxiproxy: Toxiproxy | None
    ) -> AsyncIterator["Ground"]:
        """Until this is left. Of a subject that stands, all is where it was told; of any other, anywhere.

        Raises ListenError where that address cannot be had, and ToxiproxyError for a way through it.
        """
        router = Router(
            upstreams=spec.upstreams,
            host=_host(spec, way),
            ports=[port for _, port in spec.listen] if spec.standing and not way.toxiproxy else None,
            identity=_identity(spec, way),
            names=way.names,
            probes=spec.probes,
        )
        try:
            await routers.call(router.start)  # inside: who is cancelled while it starts closes it all the same
            if not way.toxiproxy:
                yield Ground(router=router, way=way)
                return
            addresses = [(HOST, port) for port in router.ports]
            async with Passage.open(required(toxiproxy), addresses, way.under, listen=spec.listen) as through:
                router.between.reached_through(through.ports)
                yield Ground(router=router, way=way, through=through)
        finally:
            await to_the_end(routers.call(router.close))

    @property
    def upstreams(self) -> Upstreams:
        """Where a subject that is started here forwards to."""
        server = self.router.name_server
        ports, host = (self.router.ports, self.router.host) if self.through is None else (self.through.ports, HOST)
        hosts = [host if server is None else name_of_upstream(n, server) for n in range(len(ports))]
        return Upstreams(zip(hosts, ports, strict=True), way=self.way, name_server=server)


def _host(spec: SubjectSpec, way: Way) -> str:
    if way.toxiproxy:
        return HOST
    return spec.listen[0][0] if spec.standing else spec.host


def required(toxiproxy: Toxiproxy | None) -> Toxiproxy:
    """It. Raises ValueError where there is none."""
    if toxiproxy is None:
        raise ValueError("a way through Toxiproxy without one; expected a driver that has it")
    return toxiproxy


def _identity(spec: SubjectSpec, way: Way) -> Identity | None:
    if spec.standing:
        return spec.identity
    return IDENTITY if way.tls else None
