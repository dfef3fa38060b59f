"""What the router does when a fault strikes: a closed union of acts, each exactly described and performed by
one command of the injector. Times are multiples of the subject's read timeout, never milliseconds.
"""

from dataclasses import dataclass
from enum import StrEnum

from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, SpoilHandshake
from faults.vocabulary import Content, Cut, Ending, Framing, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldPool:
    """The forwarder's pool may have one connection, and another operation holds it."""


class Resolution(StrEnum):
    """How a name server fails those who ask for an upstream's name (RFC 1035 s4.1.1, RFC 2308)."""

    NXDOMAIN = "nxdomain"  # it says that there is no such name
    SERVFAIL = "servfail"  # it says that it cannot tell
    SILENCE = "silence"  # it says nothing
    STALE = "stale"  # its first answer is an address at which nobody listens any more; then it tells the right one


@dataclass(frozen=True, slots=True, kw_only=True)
class Misresolve:
    """The name of the upstream does not lead to it."""

    how: Resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """The port is bound and nobody listens: the kernel answers the SYN with RST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """A packet filter answers every SYN to the port with ICMP host unreachable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSyn:
    """The accept queue is full, so the kernel drops the SYN (backlog 0 and one filler connection)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveUnread:
    """The connection is established and nothing is read from it; after the request's bytes have arrived it is
    served `serve_after` read timeouts later, or (None) never.
    """

    serve_after: float | None = None

    def __post_init__(self) -> None:
        if self.serve_after is not None and not 0 < self.serve_after <= 10:
            raise ValueError(
                f"serve_after is {self.serve_after!r}; expected a multiple of the read timeout in (0, 10], or None"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetAtAccept:
    """The connection is reset as soon as it is accepted, whether or not a byte has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetUnread:
    """The connection is reset when bytes of a request have arrived on it, unread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """The request was read whole, `side` of EXECUTE; no byte is ever sent."""

    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The request was read whole, `side` of EXECUTE; the connection is ended before any reply byte."""

    side: Side
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The request was read whole; `side` of EXECUTE a reply is sent: late by `delay` read timeouts, whole, or cut
    at `cut` and then ended by `ending`.

    Raises ValueError for what cannot be: a 2xx before EXECUTE, a cut without an ending, a last chunk left out
    of a reply that is not chunked, a cut of a body that has no content.
    """

    side: Side
    status: int = 200
    content: Content = Content.RESULT
    framing: Framing = Framing.LENGTH
    retry_after_s: int | None = None
    delay: float | None = None
    cut: Cut | None = None
    ending: Ending | None = None

    def __post_init__(self) -> None:
        if not 200 <= self.status <= 599:
            raise ValueError(f"status is {self.status!r}; expected a final status, 200 to 599")
        if self.status < 300 and self.side is Side.BEFORE:
            raise ValueError(f"status {self.status!r} before EXECUTE: a 2xx means that the work was done")
        if self.content is Content.RESULT and self.side is Side.BEFORE:
            raise ValueError("a result before EXECUTE: nothing ran that it could name")
        if (self.cut is None) != (self.ending is None):
            raise ValueError(f"cut {self.cut!r} with ending {self.ending!r}; expected both or neither")
        if self.cut is Cut.LAST_CHUNK and self.framing is not Framing.CHUNKED:
            raise ValueError(f"cut {self.cut!r} of a reply framed by {self.framing!r}; expected chunked")
        if self.cut is not None and self.content is Content.EMPTY:
            raise ValueError("a cut of an empty body; expected content to cut")
        if self.delay is not None and not 0 < self.delay <= 10:
            raise ValueError(f"delay is {self.delay!r}; expected a multiple of the read timeout in (0, 10]")


DialAct = HoldPool | Misresolve | Refuse | Unreachable | DropSyn  # there is no connection
ListenerAct = DialAct | HandshakeAct | LeaveUnread | ResetAtAccept | ResetUnread
ExchangeAct = Hang | End | Answer
Act = ListenerAct | ExchangeAct

HEALTHY = Answer(side=Side.AFTER)


def is_listener_act(act: Act) -> bool:
    """An act of a listener strikes connections before any request is read; all others strike an exchange."""
    return isinstance(act, ListenerAct)


def needs_tls(act: Act) -> bool:
    """The act can only be done on a connection that speaks TLS."""
    match act:
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return True
        case End(ending=ending) | Answer(ending=ending):
            return ending in (Ending.TRUNCATION, Ending.ALERT)
        case _:
            return False
