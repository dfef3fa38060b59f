"""A toxic that is itself the fault: set by Toxiproxy on the way to an upstream, at one point of the exchange.

It loses bytes or connections; the router behind it is healthy. Others, that only change when bytes come and in which
pieces, are laid over whatever a plan does (`faults/under.py`).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from faults.answer import HEAD_BYTES, VERSION_BYTES, Answer, Hold
from faults.toxics import Direction, Down, LimitData, ResetPeer, SlowClose, Timeout, Toxic
from faults.vocabulary import Ending, Framing, Point, Side, Sight


class Moment(StrEnum):
    """When a toxic is set: what comes before it has passed, what comes after has not."""

    CONNECT = "before the connection is made"
    IDLE = "on a connection that lies idle, before the request comes on it"
    RECEIVED = "when the request has arrived, before EXECUTE"
    EXECUTED = "after EXECUTE, before the reply"
    BODY = "in the middle of the reply's body"


class Poisoning(StrEnum):
    """Which toxic it is, by Toxiproxy's name for it."""

    RESET_PEER = "reset_peer"  # the first bytes are dropped, and both connections are ended
    TIMEOUT = "timeout"  # all bytes are dropped; the connections are closed after a time, or never
    LIMIT_DATA = "limit_data"  # some bytes pass, then both connections are closed
    SLOW_CLOSE = "slow_close"  # the end of a connection is passed on late
    DOWN = "down"  # nobody listens, and every connection is closed


_AFTER_EXECUTE = (Moment.EXECUTED, Moment.BODY)
# Which moments each has in which direction. A reset and a limit need bytes to act on: before EXECUTE those of the
# request, after it those of the reply. The end of a connection is the reply's. `down` strikes both directions at once.
_MOMENTS: dict[tuple[Poisoning, Direction | None], tuple[Moment, ...]] = {
    (Poisoning.RESET_PEER, Direction.UPSTREAM): (Moment.CONNECT, Moment.IDLE),
    (Poisoning.RESET_PEER, Direction.DOWNSTREAM): (Moment.CONNECT, *_AFTER_EXECUTE),
    (Poisoning.TIMEOUT, Direction.UPSTREAM): (Moment.CONNECT, Moment.IDLE),
    (Poisoning.TIMEOUT, Direction.DOWNSTREAM): (Moment.CONNECT, Moment.RECEIVED, *_AFTER_EXECUTE),
    (Poisoning.LIMIT_DATA, Direction.UPSTREAM): (Moment.CONNECT,),
    (Poisoning.LIMIT_DATA, Direction.DOWNSTREAM): (Moment.CONNECT, *_AFTER_EXECUTE),
    (Poisoning.SLOW_CLOSE, Direction.DOWNSTREAM): (Moment.CONNECT, *_AFTER_EXECUTE),
    (Poisoning.DOWN, None): (Moment.CONNECT, Moment.RECEIVED, *_AFTER_EXECUTE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison:
    """That toxic is set at that moment, and stays until it is healed; direction None: in both. after: how many read
    timeouts pass before a time-out closes, or a slow close closes (None: never). passes_bytes: of a limit.

    Raises ValueError for what would lose nothing, or what Toxiproxy cannot do.
    """

    toxic: Poisoning
    at: Moment
    direction: Direction | None = None
    after: float | None = None
    passes_bytes: int = 0

    def __post_init__(self) -> None:
        if self.at not in _MOMENTS.get((self.toxic, self.direction), ()):
            raise ValueError(f"{self.toxic!r} in direction {self.direction!r}, {self.at!r}: it would strike nothing")
        if self.passes_bytes < 0 or (self.passes_bytes and self.toxic is not Poisoning.LIMIT_DATA):
            raise ValueError(f"passes_bytes is {self.passes_bytes!r} of {self.toxic!r}; expected 0, or more of a limit")
        timed = self.toxic in (Poisoning.TIMEOUT, Poisoning.SLOW_CLOSE)
        if self.after is not None and not (timed and 0 < self.after <= 10):
            raise ValueError(f"after is {self.after!r} of {self.toxic!r}; expected up to 10 of a timed one")
        if self.after is None and (self.toxic is Poisoning.SLOW_CLOSE or (self.at is Moment.RECEIVED and timed)):
            raise ValueError(f"{self.toxic!r} {self.at!r} without `after`; expected when it closes")

    def in_toxiproxy(self, read_timeout_ms: int) -> Toxic:
        """What Toxiproxy is told, for a subject with that read timeout."""
        after_ms = 0 if self.after is None else max(1, round(self.after * read_timeout_ms))
        direction = self.direction or Direction.DOWNSTREAM
        match self.toxic:
            case Poisoning.RESET_PEER:
                return ResetPeer(direction=direction)
            case Poisoning.TIMEOUT:
                return Timeout(direction=direction, timeout_ms=after_ms)
            case Poisoning.LIMIT_DATA:
                return LimitData(direction=direction, limit_bytes=self.passes_bytes)
            case Poisoning.SLOW_CLOSE:
                return SlowClose(direction=direction, delay_ms=after_ms)
            case Poisoning.DOWN:
                return Down()
            case _:
                assert_never(self.toxic)

    @property
    def strikes_dials(self) -> bool:
        """There is no connection any more that could be made."""
        return self.toxic is Poisoning.DOWN and self.at is Moment.CONNECT

    @property
    def strikes_requests(self) -> bool:
        """The request never reaches the router whole: all that the router sees is a connection."""
        return self.direction is Direction.UPSTREAM

    @property
    def loses_bytes(self) -> bool:
        """Bytes reach Toxiproxy that never leave it."""
        return self.at is not Moment.RECEIVED and self.toxic not in (Poisoning.SLOW_CLOSE, Poisoning.DOWN)

    @property
    def cuts(self) -> bool:
        """What was on its way does not arrive whole."""
        return not self.delays_the_end

    @property
    def delays_the_end(self) -> bool:
        """All bytes arrive, and the end of their connection comes late."""
        return self.toxic is Poisoning.SLOW_CLOSE

    @property
    def holds(self) -> bool:
        """An exchange is held at that moment until the toxic is set."""
        return self.at in (Moment.RECEIVED, *_AFTER_EXECUTE)

    @property
    def answer(self) -> Answer:
        """What the router does, as far as its bytes get through: it answers in good health. One that ends its
        connection shows that the end comes late.
        """
        hold = {Moment.EXECUTED: Hold(at=None), Moment.BODY: Hold(at=Point.HALF)}.get(self.at)
        if self.toxic is Poisoning.SLOW_CLOSE:
            return Answer(side=Side.AFTER, framing=Framing.CLOSE, ending=Ending.FIN, pace=hold)
        return Answer(side=Side.AFTER, pace=hold)


def sight_of_poison(act: Poison) -> Sight:
    """What the forwarder sees (measured with Toxiproxy 2.12): a reset only where the toxic was there first."""
    if act.strikes_dials:
        return Sight.REFUSED
    if act.toxic is Poisoning.SLOW_CLOSE:
        return Sight.STALL
    if act.at is Moment.BODY:
        return Sight.STALL if act.toxic is Poisoning.TIMEOUT and act.after is None else Sight.CUT
    if act.toxic is Poisoning.RESET_PEER and act.at is Moment.CONNECT:
        return Sight.RESET
    if act.toxic is Poisoning.TIMEOUT and act.after is None:
        return Sight.SILENCE
    if act.passes_bytes and act.direction is Direction.DOWNSTREAM:
        return Sight.CUT if act.passes_bytes >= HEAD_BYTES else Sight.HEAD_CUT
    return Sight.FIN


def status_seen(act: Poison) -> int | None:
    """The status that came through, where one did."""
    if sight_of_poison(act) in (Sight.STALL, Sight.CUT):
        return 200
    return 200 if act.passes_bytes > VERSION_BYTES and act.direction is Direction.DOWNSTREAM else None
