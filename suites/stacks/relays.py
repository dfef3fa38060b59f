"""The containers of the workers of one instance: in each a relay to a worker that the driver plays."""

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from suites.processes import ReservedPort
from suites.side_thread import on_a_thread
from suites.stacks import relay
from suites.stacks.errors import StackError
from suites.stacks.network import Place, StackNetwork
from suites.stacks.networked import LISTENING, host_of, ports_there
from suites.stacks.variables import base_image
from suites.way import Address, Upstreams

if TYPE_CHECKING:
    from suites.stacks.container import Contained
    from suites.stacks.engine import Engine

HOST = "127.0.0.1"
_SERVICE = "retryproof-worker"  # no name that a compose file would give
_LOOK_S = 0.05  # that somebody listens in a container gives no event


class Relays:
    """Made for a project that is about to be brought up, on that network or the host's."""

    def __init__(self, engine: "Engine", project: str, network: StackNetwork | None) -> None:
        self._engine, self._project, self._network = engine, project, network
        self._reserved: list[ReservedPort] = []
        self._addresses: list[str] = []
        self._ports: list[int] = []
        self.containers: list[Contained] = []

    async def begin(self, upstreams: Upstreams, deadline_s: float) -> Upstreams:
        """One for each of these; where they are reached through them. Raises StackError."""
        self._take_places(len(upstreams))
        for n, there in enumerate(upstreams):
            self.containers.append(await on_a_thread(partial(self._make, n, there)))
        await self.until_listening(deadline_s)
        hosts = [HOST if self._network is None else self._host(n) for n in range(len(upstreams))]
        led = zip(hosts, self._ports, strict=True)
        return Upstreams(led, way=upstreams.way, name_server=upstreams.name_server)

    def _take_places(self, count: int) -> None:
        if self._network is None:
            self._reserved = [ReservedPort() for _ in range(count)]
            self._ports = [port.number for port in self._reserved]
        else:
            self._addresses = self._network.take(count)
            self._ports = list(ports_there([_SERVICE]).values()) * count  # each has a network of its own

    def _make(self, n: int, there: Address) -> "Contained":
        host, place = HOST, Place()
        if self._network is not None:
            host, place = (
                LISTENING,
                Place(network=self._network.project, address=self._addresses[n], alias=self._host(n)),
            )
        words = ("python3", "-c", Path(relay.__file__).read_text("utf-8"), host, str(self._ports[n]))
        onward = (there[0], str(there[1]))
        return self._engine.beside.begin(self._project, f"{_SERVICE}-{n}", (*words, *onward), base_image(), place)

    def _host(self, n: int) -> str:
        return host_of(f"{_SERVICE}-{n}", self._project)

    async def until_listening(self, deadline_s: float) -> None:
        """All of them. Raises StackError where one does not before that time (monotonic)."""
        for container, port in zip(self.containers, self._ports, strict=True):
            while not await on_a_thread(partial(container.listens, port)):
                if time.monotonic() > deadline_s:
                    raise StackError(f"nothing listens in the container of {container.service!r}")
                await asyncio.sleep(_LOOK_S)

    def give_back(self) -> None:
        """Nobody has their addresses and ports any more. Safe to call twice."""
        for port in self._reserved:
            port.close()
        if self._network is not None:
            self._network.give_back(self._addresses)
            self._addresses = []
