"""What the router does when a fault strikes: a closed union of acts, each exactly described and performed by
one command of the injector. Times are multiples of the subject's read timeout, never milliseconds.
"""

from dataclasses import dataclass
from enum import StrEnum

from faults.answer import Answer, is_interim
from faults.disturbance import Disturb
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, SpoilHandshake
from faults.poison import Moment, Poison
from faults.vocabulary import Content, Ending, Extent, Noise, Side


def _check_plain(ending: Ending | None) -> None:
    if ending not in (None, Ending.FIN, Ending.RESET):
        raise ValueError(f"ending is {ending!r} of a request that was not read whole; expected fin or reset")


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
class NeverAccept:
    """The kernel completes the connection and the application never accepts it. `closes`: when a request's bytes
    lie in it the listening socket is closed, so that the kernel resets it, and opened again.
    """

    closes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndIdle:
    """Idle connections are ended while no request is under way; with `status`, a reply that nobody asked for is sent
    on them first. New connections are healthy.

    Raises ValueError for a reply that says that something was done.
    """

    ending: Ending
    status: int | None = None

    def __post_init__(self) -> None:
        _check_plain(self.ending)
        if self.status is not None and not 300 <= self.status <= 599:
            raise ValueError(f"status is {self.status!r} on an idle connection; expected 300 to 599, or None")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveUnread:
    """The connection is established and nothing is read from it; after the request's bytes have arrived it is
    served `serve_after` read timeouts later, or (None) never. `small_buffer`: the kernel takes next to nothing of
    the request either, so that the writing of a large one stalls.
    """

    serve_after: float | None = None
    small_buffer: bool = False

    def __post_init__(self) -> None:
        if self.serve_after is not None and not 0 < self.serve_after <= 10:
            raise ValueError(
                f"serve_after is {self.serve_after!r}; expected a multiple of the read timeout in (0, 10], or None"
            )
        if self.small_buffer and self.serve_after is not None:
            raise ValueError(f"serve_after {self.serve_after!r} behind a small buffer; expected one of the two")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetAtAccept:
    """The connection is reset as soon as it is accepted, whether or not a byte has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUnread:
    """The connection is ended when bytes of a request have arrived on it, unread. `abandoned`: after the FIN the
    socket is closed, so that the kernel sends RST behind it, as for a request that crosses the FIN.
    """

    ending: Ending
    abandoned: bool = False

    def __post_init__(self) -> None:
        _check_plain(self.ending)
        if self.abandoned and self.ending is not Ending.FIN:
            raise ValueError(f"abandoned after {self.ending!r}; expected {Ending.FIN!r}: a reset ends it at once")


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReading:
    """The request is read up to `until` and no further; then the connection is ended, or (None) stays silent."""

    until: Extent
    ending: Ending | None = None

    def __post_init__(self) -> None:
        _check_plain(self.ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEarly:
    """The request is read up to `until` and answered with a final status, never executed. Then the connection stays
    open and the rest is read and thrown away (None); or the answer says `Connection: close`, and after it the
    router either reads on until the peer has ended too (FIN), or closes at once with the rest unread (RESET): then
    it is the kernel that decides whether the peer can still read the answer (RFC 9112 s9.6).

    Raises ValueError for an answer that says that something was done.
    """

    until: Extent
    status: int
    content: Content
    ending: Ending | None = None

    def __post_init__(self) -> None:
        _check_plain(self.ending)
        if not 300 <= self.status <= 599:
            raise ValueError(f"status is {self.status!r} before the request was read; expected 300 to 599")
        if self.content is Content.RESULT:
            raise ValueError("a result before the request was read: nothing ran that it could name")


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
# What a connection meets once it is accepted: a new one, or an idle one that a plan holds for the fault.
HeldAct = LeaveUnread | EndUnread | StopReading | AnswerEarly
BetweenAct = Poison | Disturb  # it strikes what lies between the forwarder and a router that is healthy
ListenerAct = DialAct | NeverAccept | HandshakeAct | EndIdle | ResetAtAccept | HeldAct | BetweenAct
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


def needs_tcp(act: Act) -> bool:
    """The act can only be done on a connection that speaks no TLS: over it, what lies in a queue or a small buffer is
    not yet the request, and the kernel does not know what of it was read.
    """
    match act:
        case NeverAccept() | LeaveUnread(small_buffer=True) | EndUnread(abandoned=True):
            return True
        case AnswerEarly(ending=ending):
            return ending is Ending.RESET
        case Disturb():
            return True  # what stands between ends the forwarder's TLS, and workers are spoken to without
        case Poison():
            return True  # it strikes bytes, and the first of them are those of a handshake
        case _:
            return False


def strikes_idle(act: Act) -> bool:
    """It strikes connections on which no request is under way, and so no sending."""
    return isinstance(act, EndIdle)


def may_meet_reused(act: Act) -> bool:
    """A connection that has carried an exchange can meet it; the others strike new ones alone."""
    return isinstance(act, HeldAct | EndIdle) or (isinstance(act, Poison) and act.at is not Moment.CONNECT)


def needs_reused(act: Act) -> bool:
    """It strikes what has carried an exchange alone."""
    return strikes_idle(act) or (isinstance(act, Poison) and act.at is Moment.IDLE)


def needs_expectation(act: Act) -> bool:
    """It strikes only requests that say Expect: 100-continue."""
    return isinstance(act, StopReading | AnswerEarly) and act.until is Extent.EXPECTATION


def needs_stream(act: Act) -> bool:
    """It strikes only where a stream was asked for."""
    return isinstance(act, Answer) and act.needs_stream


def needs_whole(act: Act) -> bool:
    """The act strikes an answer that is asked for whole alone: no reader of events takes in all of a huge one."""
    return isinstance(act, Answer) and act.content is Content.HUGE
