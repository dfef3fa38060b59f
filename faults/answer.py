"""The reply that is sent when a fault strikes, as data: what it says, how it is written, how its bytes come, where
they stop, and what becomes of the connection. Times are multiples of the subject's read timeout.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from faults.vocabulary import (
    STREAM_CONTENTS,
    STREAM_POINTS,
    Coding,
    Content,
    Ending,
    Flaw,
    Framing,
    Persistence,
    Point,
    Side,
    Surplus,
)

MAX_DELAY = 10
NEAR = 0.75  # a wait of so many read timeouts or more may outlast a forwarder's patience on a machine that is busy
HEAD_BYTES = 72  # of a plain 200 whose Content-Length has three digits
VERSION_BYTES = len("HTTP/1.1 ")  # after them the status begins, whose first digit is its class (RFC 9110 s15)
MAX_CUT = 463  # a reply that is cut at a byte is a small result; the smallest one is one byte longer

STREAM_STEPS = 8  # events of each choice in a stream; behind them comes [DONE]

Cut = Point | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drip:
    """The bytes come in so many pieces (None: each byte by itself), with `pause` between two of them."""

    pieces: int | None
    pause: float = 0.0

    def __post_init__(self) -> None:
        if self.pieces is not None and not 2 <= self.pieces <= 100:
            raise ValueError(f"pieces is {self.pieces!r}; expected 2 to 100, or None for every byte by itself")
        if not 0 <= self.pause <= MAX_DELAY or (self.pieces is None and self.pause):
            raise ValueError(f"pause is {self.pause!r} between {self.pieces!r} pieces; expected 0 to {MAX_DELAY}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The bytes stop at that point, and go on after that time."""

    at: Point
    length: float

    def __post_init__(self) -> None:
        if not 0 < self.length <= MAX_DELAY:
            raise ValueError(f"length is {self.length!r}; expected a multiple of the read timeout in (0, {MAX_DELAY}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spaced:
    """The events of a stream come one by one, each that much after what was before it: the head, at first."""

    pause: float

    def __post_init__(self) -> None:
        if not 0 < self.pause < 1:
            raise ValueError(f"pause is {self.pause!r}; expected a part of the read timeout, in (0, 1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The bytes stop at that point (None: before the first) until a gate opens."""

    at: Point | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The request was read whole; `side` of EXECUTE a reply is sent.

    interim: statuses of interim responses before it. delay: it begins that much later. pace: its bytes do not come
    at once. cut: its bytes stop at that point, or after so many bytes. surplus: what comes behind it, in the same
    segment or (surplus_after) that much later. ending: how the connection is then ended; None: it stays open, and
    a reply that is not whole by then stalls.

    Raises ValueError for what cannot be.
    """

    side: Side
    status: int = 200
    content: Content = Content.RESULT
    coding: Coding | None = None
    framing: Framing = Framing.LENGTH
    flaw: Flaw | None = None
    says: Persistence = Persistence.UNSAID
    retry_after_s: int | None = None
    interim: tuple[int, ...] = ()
    delay: float | None = None
    pace: Drip | Pause | Spaced | Hold | None = None
    cut: Cut | None = None
    surplus: Surplus | None = None
    surplus_after: float | None = None
    ending: Ending | None = None

    def __post_init__(self) -> None:
        for wrong in (*_wrong_with_work(self), *_wrong_with_cut(self), *_wrong_with_form(self)):
            raise ValueError(wrong)

    @property
    def incomplete(self) -> bool:
        """It never becomes a whole message."""
        return self.cut is not None or self.flaw in (Flaw.LENGTH_LONG, Flaw.CHUNK_SIZE)

    @property
    def needs_stream(self) -> bool:
        """It can strike only where a stream was asked for."""
        at = self.pace.at if isinstance(self.pace, Pause) else None
        return (
            self.content in STREAM_CONTENTS
            or not STREAM_POINTS.isdisjoint({self.cut, at})
            or isinstance(self.pace, Spaced)
        )

    @property
    def stalls(self) -> bool:
        """It begins, and then nothing more comes on a connection that stays open."""
        return self.incomplete and self.ending is None

    @property
    def lasts(self) -> float:
        """How long it takes until all of it was sent, from the moment in which it might have been."""
        waits = self.delay or 0.0
        match self.pace:
            case Drip(pieces=int() as pieces, pause=pause):
                return waits + (pieces - 1) * pause
            case Pause(length=length):
                return waits + length
            case Spaced(pause=pause):
                return waits + (STREAM_STEPS + 1) * pause
            case _:
                return waits


def is_interim(status: int) -> bool:
    """Whether it is an interim status that a router may send unasked; 101 switches protocols (RFC 9110 s15.2.2)."""
    return 100 <= status <= 199 and status != 101


def _wrong_with_work(act: Answer) -> Iterator[str]:
    if not 200 <= act.status <= 599:
        yield f"status is {act.status!r}; expected a final status, 200 to 599"
    if act.status < 300 and act.side is Side.BEFORE:
        yield f"status {act.status!r} before EXECUTE: a 2xx means that the work was done"
    if act.content is Content.RESULT and act.side is Side.BEFORE:
        yield "a result before EXECUTE: nothing ran that it could name"
    for status in act.interim:
        if not is_interim(status):
            yield f"interim status is {status!r}; expected 100 to 199, and not 101"
    if act.delay is not None and not 0 < act.delay <= MAX_DELAY:
        yield f"delay is {act.delay!r}; expected a multiple of the read timeout in (0, {MAX_DELAY}]"


def _wrong_with_cut(act: Answer) -> Iterator[str]:
    chunked = act.framing in (Framing.CHUNKED, Framing.TRAILERS)
    for point in (act.cut, act.pace.at if isinstance(act.pace, Pause) else None):
        if point in (Point.LAST_CHUNK, Point.IN_LAST_CHUNK) and not chunked:
            yield f"{point!r} of a reply framed by {act.framing!r}; expected chunked"
    if act.cut is not None and act.content is Content.EMPTY:
        yield "a cut of an empty body; expected content to cut"
    if isinstance(act.cut, int) and not 0 < act.cut <= MAX_CUT:
        yield f"cut is {act.cut!r}; expected a number of bytes from 1 to {MAX_CUT}"
    if act.surplus is not None and (act.incomplete or act.ending is not None or act.framing is Framing.CLOSE):
        yield f"{act.surplus!r} behind a reply that ends its connection, or never ends; expected one that lets it stay"
    if act.surplus_after is not None and (act.surplus is None or not 0 < act.surplus_after <= MAX_DELAY):
        yield f"surplus_after is {act.surplus_after!r} with surplus {act.surplus!r}; expected a time up to {MAX_DELAY}"


ABOUT_LENGTH = frozenset({Flaw.LENGTH_LONG, Flaw.LENGTH_SHORT, Flaw.LENGTH_TWICE, Flaw.LENGTHS_DIFFER})
_NEEDS = {
    **dict.fromkeys(ABOUT_LENGTH, (Framing.LENGTH,)),
    Flaw.BOTH_FRAMINGS: (Framing.CHUNKED,),
    Flaw.CHUNK_SIZE: (Framing.CHUNKED,),
    Flaw.BAD_TRAILER: (Framing.CHUNKED,),
}


def _wrong_with_form(act: Answer) -> Iterator[str]:
    needed = tuple(Framing) if act.flaw is None else _NEEDS.get(act.flaw, tuple(Framing))
    if act.framing not in needed:
        yield f"{act.flaw!r} of a reply framed by {act.framing!r}; expected {needed[0]!r}"
    if act.framing is Framing.CLOSE and act.ending is None:
        yield f"framing {act.framing!r} without an ending; expected one, for the body ends with the connection"
    if act.status == 204 and (act.content is not Content.EMPTY or act.framing is not Framing.LENGTH):
        yield f"a 204 with {act.content!r}; expected {Content.EMPTY!r} (RFC 9110 s15.3.5)"
    plain = (act.coding, act.flaw, act.pace, act.cut, act.surplus) == (None,) * 5 and act.framing is Framing.LENGTH
    if act.content is Content.HUGE and not plain:
        yield f"{act.content!r} in {act!r}; expected a plain reply, for it is not held in memory"
    if act.coding is not None and act.content is Content.EMPTY:
        yield f"{act.coding!r} of an empty body; expected content to encode"
