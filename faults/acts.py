"""What the router does when a fault strikes: a closed union of acts, each exactly described and performed by
one command of the injector. Times are multiples of the subject's read timeout, never milliseconds.
"""

from dataclasses import dataclass
from enum import StrEnum

from faults.answer import Answer, is_interim
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, SpoilHandshake
from faults.vocabulary import Ending, Noise, Side


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
class Fragment:
    """The request was read whole; `side` of EXECUTE bytes are sent that are no final reply: interim responses alone
    (RFC 9110 s15.2), or no HTTP at all. Then the connection is ended, or (None) nothing more comes.

    Raises ValueError for both or neither.
    """

    side: Side
    interim: tuple[int, ...] = ()
    noise: Noise | None = None
    ending: Ending | None = None

    def __post_init__(self) -> None:
        if bool(self.interim) == (self.noise is not None):
            raise ValueError(f"interim {self.interim!r} with noise {self.noise!r}; expected exactly one of them")
        for status in self.interim:
            if not is_interim(status):
                raise ValueError(f"interim status is {status!r}; expected 100 to 199, and not 101")


DialAct = HoldPool | Misresolve | Refuse | Unreachable | DropSyn  # there is no connection
ListenerAct = DialAct | HandshakeAct | LeaveUnread | ResetAtAccept | ResetUnread
ReplyAct = Fragment | Answer
ExchangeAct = Hang | End | ReplyAct
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
        case End(ending=ending) | Fragment(ending=ending) | Answer(ending=ending):
            return ending in (Ending.TRUNCATION, Ending.ALERT)
        case _:
            return False
