"""The callers of a load in worker processes, which may be on other machines."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, assert_never

from retryproof.exits import CommandError, Exit
from retryproof.frames import CallersRequest, Failed
from retryproof.load_frames import (
    Arrived,
    BeginAll,
    Begun,
    CannotGoOn,
    EndAll,
    GiveUpAll,
    Looked,
    Orders,
    Place,
    Ready,
    Recorded,
    Said,
    Told,
)
from retryproof.pickles import messages_of, pickled
from retryproof.units import Unit
from retryproof.workers import end_unit
from suites.ending import to_the_end
from suites.load.crew import CallerError
from suites.load.ended import Tally, joined
from suites.load.found import Use
from suites.load.order import Order
from suites.load.progress import Count
from suites.processes import Supervisor

_NOTHING = Use(cpu_s=0.0, resident_bytes=0, sockets=0)


@dataclass(slots=True)
class Hand:
    """One worker process, and what it has said so far."""

    unit: Unit
    place: Place | None = None
    orders: tuple[Order, ...] = ()
    ready: bool = False
    begun_ns: int | None = None
    looked: Looked = field(default_factory=lambda: Looked(counts=dict.fromkeys(Count, 0), uses=()))
    recorded: Recorded | None = None
    cannot: str = ""
    how: str = ""  # it has ended
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> None:
        """Hear it to its end."""
        async for said in messages_of(self.unit.frames.readexactly):
            self._hear(said)
            self.news.set()
        self.how = await self.unit.ended()
        self.news.set()

    def tell(self, told: Told) -> None:
        """Say so to it; one that has ended hears nothing."""
        if not self.how:
            self.unit.tell(pickled(told))

    @property
    def where(self) -> str:
        """Which machine it is on, as far as that is known; empty for this one."""
        return f"on {self.unit.node} " if self.unit.node else ""

    def says(self) -> str:
        """Why it cannot go on."""
        return f"{self.where.strip()}: {self.cannot}" if self.where else self.cannot

    def _hear(self, said: Said | Failed) -> None:
        match said:
            case Arrived(place=place):
                self.place = place
            case Ready():
                self.ready = True
            case Begun(at_ns=at_ns):
                self.begun_ns = at_ns
            case Looked():
                self.looked = said
            case Recorded():
                self.recorded = said
            case CannotGoOn(says=says) | Failed(says=says):
                self.cannot = says
            case _:
                assert_never(said)


class Begins(Protocol):
    """Where worker processes are begun."""

    async def begin(self, request: CallersRequest) -> Unit:
        """One with that request."""


@asynccontextmanager
async def hands(where: Begins, count: int, loopback: str) -> AsyncIterator[list[Hand]]:
    """So many worker processes, each of which is there, or has ended; they are gone afterwards.

    loopback: the subject, where only processes of its own machine reach it; else empty. Raises CommandError (exit code
    4) where one cannot be a caller of it.
    """
    begun: list[Hand] = []
    reading: list[asyncio.Task[None]] = []
    try:
        for _ in range(count):
            hand = Hand(await where.begin(CallersRequest()))
            begun.append(hand)
            reading.append(asyncio.create_task(hand.read()))
        for hand in begun:
            await _until(hand, lambda hand: hand.place is not None)
            _require(hand, loopback)
        yield begun
    finally:
        ends = [end_unit(hand.unit, task) for hand, task in zip(begun, reading, strict=True)]
        await to_the_end(_all(ends))


async def _all(ends: list[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*ends)


def _require(hand: Hand, loopback: str) -> None:
    if hand.cannot:
        raise CommandError(hand.says(), Exit.COULD_NOT_RUN)
    if loopback and hand.place is not None and hand.place != Place.here():
        raise CommandError(
            f"{hand.where.strip()}: callers there cannot reach {loopback}, which listens at a loopback address of the "
            "machine that the command runs on; expected the URL of a subject that every machine reaches "
            "(`retryproof load http://HOST:PORT --listen HOST:PORT ...`), or a cluster of this machine alone",
            Exit.COULD_NOT_RUN,
        )


async def _until(hand: Hand, is_so: Callable[[Hand], bool]) -> None:
    """That is so of it, or it has ended, or cannot go on."""
    while not is_so(hand) and not hand.how and not hand.cannot:
        hand.news.clear()
        await hand.news.wait()


class SpreadCrew:
    """Orders dealt out over hands, in turns: an AnyCrew."""

    def __init__(self, hands: Sequence[Hand], orders: Sequence[Order], folder: Path, supervisor: Supervisor) -> None:
        del folder, supervisor  # each hand has its own
        self._hands = [hand for nth, hand in enumerate(hands) if orders[nth :: len(hands)]]
        for nth, hand in enumerate(self._hands):
            hand.orders = tuple(orders[nth :: len(hands)])
        self._lost: dict[str, None] = {}
        self._begun_ns = 0
        self._ending = False

    async def start(self) -> None:
        """They connect, as soon as they can."""
        for hand in self._hands:
            hand.tell(Orders(orders=hand.orders))

    async def ready(self) -> None:
        """All are connected, or cannot be; or some are lost. Raises CallerError where one could not go on."""
        for hand in self._hands:
            await _until(hand, lambda hand: hand.ready)
            self.require()
            if self.lost():
                return

    def begin(self) -> None:
        """The word."""
        self._begun_ns = time.monotonic_ns()
        self._tell(BeginAll())

    def require(self) -> None:
        """Raises CallerError where one of them could not go on."""
        for hand in self._hands:
            if hand.cannot:
                raise CallerError(hand.says())

    def lost(self) -> tuple[str, ...]:
        """Which worker processes have died, as long as they were not told to end."""
        if not self._ending:
            for hand in self._hands:
                if hand.how and hand.recorded is None and not hand.cannot:
                    self._lost[f"a worker process with callers {hand.where}{hand.how}"] = None
        return tuple(self._lost)

    def are_done(self) -> bool:
        """All that was asked for has ended."""
        return all(hand.recorded is not None for hand in self._hands)

    def counts(self) -> dict[Count, int]:
        """All that they count, together, as far as they have said."""
        return {count: sum(hand.looked.counts[count] for hand in self._hands) for count in Count}

    def uses(self) -> tuple[Use, ...]:
        """What each takes, in the order of their indices; nothing of one that has not said it."""
        use = {
            order.index: use for hand in self._hands for order, use in zip(hand.orders, hand.looked.uses, strict=False)
        }
        return tuple(use.get(index, _NOTHING) for index in range(sum(len(hand.orders) for hand in self._hands)))

    def last_number(self) -> int:
        """The greatest number of an operation that was begun, as far as they have said."""
        return max((hand.recorded.last_number for hand in self._hands if hand.recorded is not None), default=0)

    def tally(self) -> Tally:
        """What they have recorded, by the clock of this machine."""
        return joined([self._told_here(hand, hand.recorded.tally) for hand in self._hands if hand.recorded is not None])

    def give_up(self) -> None:
        """What is in flight is waited for no longer, and nothing else is asked for."""
        self._tell(GiveUpAll())

    async def end(self) -> None:
        """They are ended, and have recorded what had become of their operations. Safe to call twice."""
        self.lost()
        self._ending = True
        self._tell(EndAll())
        for hand in self._hands:
            await _until(hand, lambda hand: hand.recorded is not None)

    async def stop(self) -> None:
        """Nothing: the worker processes end them when they are ended."""

    def _tell(self, told: Told) -> None:
        for hand in self._hands:
            hand.tell(told)

    def _told_here(self, hand: Hand, tally: Tally) -> Tally:
        """Another machine's clock began somewhere else: its callers have heard the word when it was given here, but for
        the time that it was on its way.
        """
        if hand.begun_ns is None or (hand.place is not None and hand.place.boot == Place.here().boot):
            return tally
        records = tally.records.copy()
        for name in ("began_ns", "ended_ns"):
            records[name] = records[name] - hand.begun_ns + self._begun_ns
        return replace(tally, records=records)
