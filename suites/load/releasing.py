"""What routers hold, and when it is released; and the service of each of several routers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fake_router.service import Engine, Held, Service
from suites.load.asked import Load
from suites.load.routers import Status

STALLED_S = 60.0  # some wait at the routers, and for so long nothing has come there: no more will


class Releasable(Protocol):
    """A router, as far as it is asked for what waits there."""

    async def status(self) -> Status:
        """How it is."""

    async def release(self) -> None:
        """What it holds is answered."""


@dataclass(slots=True, kw_only=True)
class Releasing:
    """Sees how many wait at the routers, and releases them once all do, or no more come."""

    load: Load
    routers: Sequence[Releasable]
    stalled_s: float = STALLED_S
    _released: bool = False
    _entries: int = 0
    _since_s: float = field(default_factory=time.monotonic)

    async def look(self) -> int:
        """How many wait now."""
        states = [await router.status() for router in self.routers]
        waiting = sum(state.waiting for state in states)
        if isinstance(self.load.service, Held) and not self._released:
            stalled = self._is_stalled(waiting, sum(state.entries for state in states))
            await self._release_if(stalled or waiting >= self.load.in_flight)
        return waiting

    async def _release_if(self, so: bool) -> None:
        if so:
            self._released = True
            for router in self.routers:
                await router.release()

    def _is_stalled(self, waiting: int, entries: int) -> bool:
        if entries != self._entries or not waiting:
            self._entries, self._since_s = entries, time.monotonic()
            return False
        return time.monotonic() - self._since_s > self.stalled_s


def services_of(service: Service, routers: int, instances: int) -> list[Service]:
    """Of each of so many routers; the places of an engine are dealt out among the instances that they serve in turn.
    Raises ValueError for too few.
    """
    if not isinstance(service, Engine):
        return [service] * routers
    if service.capacity < routers:
        raise ValueError(f"an engine of capacity {service.capacity} behind {routers} routers; expected one for each")
    least, more = divmod(service.capacity, instances)
    places = [least + (nth < more) for nth in range(instances)]
    return [replace(service, capacity=sum(places[nth::routers])) for nth in range(routers)]
