"""Performs a service: who is in it, who queues for it, and when each is told. Exchanges are told apart by number."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from fake_router.exchange import Event
from fake_router.service import INSTANT, Engine, Held, Instant, Service, service_text

Tell = Callable[[Event], None]


class NothingToReleaseError(ValueError):
    """The service of this router holds nothing until it is released."""


class Serving:
    """The work of one router that has been taken on, or waits to be. `begin` comes before any exchange.

    A peer that leaves while it queues has left its place. One that leaves in service has not: its work was taken on,
    and keeps its place for as long as it takes.
    """

    def __init__(self, service: Service = INSTANT) -> None:
        self.service = service
        self.begins_with = Event.START if isinstance(service, Instant) else Event.SERVE
        self._loop: asyncio.AbstractEventLoop | None = None
        self._released = False
        self._held: OrderedDict[int, Tell] = OrderedDict()
        self._queue: OrderedDict[int, Tell] = OrderedDict()
        self._told: dict[int, Tell] = {}  # of those in service, whose peers have not left
        self._timers: dict[int, asyncio.TimerHandle] = {}  # of all in service

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Its clock is that loop's."""
        self._loop = loop

    @property
    def held(self) -> int:
        """How many wait to be released."""
        return len(self._held)

    @property
    def in_service(self) -> int:
        """How many an engine has taken on."""
        return len(self._timers)

    @property
    def queued(self) -> int:
        """How many wait for their place."""
        return len(self._queue)

    def queue(self, exchange: int, tell: Tell) -> Event | None:
        """ADMITTED where its work is taken on at once; else it is told of that later."""
        service = self.service
        if isinstance(service, Engine) and len(self._timers) >= service.capacity:
            self._queue[exchange] = tell
            return None
        return Event.ADMITTED

    def serve(self, exchange: int, tell: Tell) -> Event | None:
        """SERVED where its work takes no time; else it is told of that later."""
        match self.service:
            case Held() if not self._released:
                self._held[exchange] = tell
                return None
            case Engine(seconds=seconds):
                assert self._loop is not None
                self._told[exchange] = tell
                self._timers[exchange] = self._loop.call_later(seconds, self._over, exchange)
                return None
            case _:
                return Event.SERVED

    def leave(self, exchange: int) -> None:
        """Its peer has gone: tell it nothing."""
        self._held.pop(exchange, None)
        self._queue.pop(exchange, None)
        self._told.pop(exchange, None)

    def release(self) -> None:
        """What is held is served, in the order in which it came; what comes from now on takes no time."""
        service = self.holding()
        self._released = True
        if not service.together:
            self._release_one()
            return
        while self._held:
            self._held.popitem(last=False)[1](Event.SERVED)

    def holding(self) -> Held:
        """The service, where it holds until it is released. Raises NothingToReleaseError where it does not."""
        if not isinstance(self.service, Held):
            says = service_text(self.service)
            raise NothingToReleaseError(f"the service is {says}; expected held or burst, where there is to release")
        return self.service

    def hold_again(self) -> None:
        """What comes from now on is held, as at first."""
        self._released = False

    def close(self) -> None:
        """Tell nobody anything any more."""
        for timer in self._timers.values():
            timer.cancel()
        for waiting in (self._timers, self._told, self._queue, self._held):
            waiting.clear()

    def _release_one(self) -> None:
        if self._held and self._released:
            assert self._loop is not None
            self._loop.call_soon(self._release_one)
            self._held.popitem(last=False)[1](Event.SERVED)

    def _over(self, exchange: int) -> None:
        del self._timers[exchange]
        tell = self._told.pop(exchange, None)
        if tell is not None:
            tell(Event.SERVED)
        if self._queue:
            self._queue.popitem(last=False)[1](Event.ADMITTED)
