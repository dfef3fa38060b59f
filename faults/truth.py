"""The table of truth: what has really happened at the router when an act is done, and what the peer sees of it.

Two facts for each act that no forwarder can put together: `truth` is the router's side of EXECUTE, `sight`
the forwarder's side of the socket.
"""

from dataclasses import dataclass
from typing import assert_never

from faults.acts import (
    Act,
    AnswerEarly,
    DialAct,
    DropSyn,
    End,
    EndIdle,
    EndUnread,
    Fragment,
    Hang,
    HoldPool,
    LeaveUnread,
    Misresolve,
    NeverAccept,
    Refuse,
    ResetAtAccept,
    Resolution,
    StopReading,
    Unreachable,
)
from faults.answer import HEAD_BYTES, NEAR, VERSION_BYTES, Answer, Pause, Spaced
from faults.contents import fixed_body, noise_bytes
from faults.evidence import Evidence
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.poison import Moment, Poison, sight_of_poison, status_seen
from faults.vocabulary import Content, Ending, Flaw, Framing, Persistence, Phase, Point, Replied, Side, Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The four separate facts of an exchange: the request was read, taken on, done, and answered."""

    received: bool
    accepted: bool
    executed: bool
    replied: Replied


NO_EXCHANGE = Truth(received=False, accepted=False, executed=False, replied=Replied.NOTHING)


def truth_of(act: Act) -> Truth:
    """What the ledger must say of a sending on which the act struck."""
    match act:
        case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn() | ResetAtAccept():
            return NO_EXCHANGE
        case NeverAccept() | EndIdle():
            return NO_EXCHANGE
        case Poison():
            return _truth_of_poison(act)
        case EndUnread() | StopReading():
            return NO_EXCHANGE
        case AnswerEarly():
            return Truth(received=False, accepted=False, executed=False, replied=Replied.WHOLE)
        case LeaveUnread(serve_after=None):
            return NO_EXCHANGE
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return NO_EXCHANGE
        case LeaveUnread():
            return Truth(received=True, accepted=True, executed=True, replied=Replied.WHOLE)
        case Hang(side=side) | End(side=side):
            return _struck(side, Replied.NOTHING)
        case Fragment(side=side):
            return _struck(side, Replied.PART)
        case Answer(side=side):
            return _struck(side, Replied.PART if act.incomplete else Replied.WHOLE)
        case _:
            assert_never(act)


def _truth_of_poison(act: Poison) -> Truth:
    """The router is healthy: what has reached it is served, whatever becomes of the answer."""
    if act.strikes_dials or act.strikes_requests:
        return NO_EXCHANGE
    if act.at is Moment.RECEIVED:
        return Truth(received=True, accepted=False, executed=False, replied=Replied.NOTHING)
    return Truth(received=True, accepted=True, executed=True, replied=Replied.WHOLE)


def _struck(side: Side, replied: Replied) -> Truth:
    executed = side is Side.AFTER
    return Truth(received=True, accepted=executed, executed=executed, replied=replied)


def sight_of(act: Act) -> Sight:
    """What a forwarder sees whose read timeout is the one that multiples in the act refer to.

    A reply beyond the read timeout is silence to it; the reply itself reaches nobody.
    """
    match act:
        case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn():
            return _sight_of_dial(act)
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return _sight_of_handshake(act)
        case EndIdle():
            return Sight.IDLE_END
        case ResetAtAccept():
            return Sight.RESET
        case NeverAccept(closes=closes):
            return Sight.RESET if closes else Sight.SILENCE
        case Hang():
            return Sight.SILENCE
        case AnswerEarly():
            return Sight.STATUS
        case LeaveUnread(serve_after=late):
            return Sight.SILENCE if late is None or late >= 1 else Sight.WHOLE
        case End(ending=ending) | EndUnread(ending=ending) | StopReading(ending=ending):
            return Sight.SILENCE if ending is None else _SIGHT_OF_END[ending]
        case Fragment(noise=noise, ending=ending):
            return _SIGHT_OF_END[ending] if noise is None else Sight.GARBLED
        case Poison():
            return sight_of_poison(act)
        case Answer():
            return _sight_of_answer(act)
        case _:
            assert_never(act)


_SIGHT_OF_END = {
    Ending.FIN: Sight.FIN,
    Ending.RESET: Sight.RESET,
    Ending.TRUNCATION: Sight.TRUNCATION,
    Ending.ALERT: Sight.ALERT,
    None: Sight.SILENCE,
}
_READ_RIGHTLY = frozenset({Flaw.LENGTH_SHORT})  # nothing is wrong with it but what lies behind it


def _sight_of_dial(act: DialAct) -> Sight:
    match act:
        case HoldPool():
            return Sight.POOL_WAIT
        case Misresolve(how=how):
            return Sight.REFUSED if how is Resolution.STALE else Sight.UNRESOLVED
        case Refuse():
            return Sight.REFUSED
        case Unreachable():
            return Sight.UNREACHABLE
        case DropSyn():
            return Sight.CONNECT_TIMEOUT
        case _:
            assert_never(act)


def _sight_of_handshake(act: HandshakeAct) -> Sight:
    match act:
        case SpoilHandshake(how=how):
            return Sight.TLS_STALLED if how is Spoil.STALL else Sight.TLS_FAILED
        case ShowCertificate():
            return Sight.TLS_FAILED
        case DemandCertificate(version=version):
            return Sight.TLS_FAILED if version is TlsVersion.TLS_1_2 else Sight.TLS_REFUSED
        case _:
            assert_never(act)


def _sight_of_answer(act: Answer) -> Sight:
    if act.delay is not None and act.delay >= 1:
        return Sight.SILENCE
    if act.stalls or (isinstance(act.pace, Pause) and act.pace.length >= 1):
        return Sight.STALL
    if cut_in_head(act):
        return Sight.HEAD_CUT
    if act.incomplete:
        return Sight.CUT if cut_can_be_seen(act) else Sight.WHOLE
    if act.flaw is not None and act.flaw not in _READ_RIGHTLY:
        return Sight.FLAWED
    return Sight.WHOLE if act.status < 300 else Sight.STATUS


def cut_in_head(act: Answer) -> bool:
    """The reply stops before the end of its head."""
    if isinstance(act.cut, int):
        return act.cut < HEAD_BYTES
    return act.cut in (Point.STATUS_LINE, Point.HEADERS)


def _status_seen(act: Answer) -> int | None:
    """The status, where its first digit was sent: that alone says which class it is of (RFC 9110 s15)."""
    unseen = act.cut is Point.STATUS_LINE or (isinstance(act.cut, int) and act.cut <= VERSION_BYTES)
    return None if unseen else act.status


def may_take_less(act: Act) -> bool:
    """The kernel may take less of its reply than all: its peer may have gone before."""
    return isinstance(act, LeaveUnread | Poison) or (isinstance(act, Answer) and act.lasts > 0)


def is_late(act: Act) -> bool:
    """It lasts so long that a forwarder may have given up before its end, or gives up for certain."""
    return isinstance(act, Answer) and act.lasts >= NEAR


def sight_is_certain(act: Act, slower: float = 0.0) -> bool:
    """The forwarder sees the same on every machine. What comes close to its read timeout may come on either side;
    `slower`: by how many read timeouts it may come later than the router sent it.
    """
    if not isinstance(act, Answer) or not act.lasts:
        return True
    if isinstance(act.pace, Spaced):
        return act.pace.pause + slower < NEAR
    return act.lasts + slower < NEAR or act.lasts >= 2 - NEAR


def speaks_unasked(act: Act) -> bool:
    """It sends more when its peer has all that it asked for. Who writes the next request before that cannot tell it
    from an answer; who writes it afterwards can.
    """
    return isinstance(act, Answer) and act.surplus_after is not None


def cut_can_be_seen(act: Act) -> bool:
    """The framing shows that the reply was cut. A body that ends with its connection is whole when that ends with
    FIN (RFC 9112 s6.3, s8): only its content can tell.
    """
    return not (isinstance(act, Answer) and act.framing is Framing.CLOSE and act.ending is Ending.FIN)


def shows_its_cause(act: Act) -> bool:
    """The forwarder certainly had this evidence, so its decision may be judged.

    A reset at accept may meet it before or after it wrote its first byte, and the router cannot know which
    (measured on nginx: retried when no byte had been seen, not retried when one had): that act only tells. So does a
    client certificate that is demanded under TLS 1.3: its alert may come before or after the request was written.
    And so does an early answer on a connection that is closed with the rest of the request unread: its RST can
    overtake the answer.
    """
    match act:
        case ResetAtAccept() | AnswerEarly(ending=Ending.RESET):
            return False
        case _:
            return sight_of(act) is not Sight.TLS_REFUSED


def asks_for_refusal(act: Act) -> bool:
    """A peer that keeps the rules ends such a connection without a request (RFC 9110 s4.3.4)."""
    return isinstance(act, ShowCertificate)


def evidence_of(act: Act) -> Evidence:
    """The sight, and for a reply its status and (where it names no operation) its body."""
    sight = sight_of(act)
    if isinstance(act, Fragment):
        return Evidence(sight=sight, interim=act.interim, body=b"" if act.noise is None else noise_bytes(act.noise))
    if isinstance(act, AnswerEarly):
        return Evidence(sight=sight, status=act.status, body=fixed_body(act.content))
    if isinstance(act, Poison):
        return Evidence(sight=sight, status=status_seen(act))
    if not isinstance(act, Answer) or sight is Sight.SILENCE:
        return Evidence(sight=sight, status=200 if sight is Sight.WHOLE else None)
    body = b"" if sight is Sight.HEAD_CUT else fixed_body(act.content)
    return Evidence(sight=sight, status=_status_seen(act), body=body, interim=act.interim)


def phase_of(act: Act) -> Phase:
    """Where in wire order the act strikes."""
    match act:
        case HoldPool():
            return Phase.POOL
        case Misresolve():
            return Phase.RESOLVE
        case Refuse() | Unreachable() | DropSyn():
            return Phase.CONNECT
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return Phase.TLS
        case EndIdle():
            return Phase.IDLE
        case NeverAccept() | ResetAtAccept() | LeaveUnread(small_buffer=False):
            return Phase.ACCEPT
        case LeaveUnread() | EndUnread() | StopReading() | AnswerEarly():
            return Phase.REQUEST
        case Hang() | End():
            return Phase.WAIT
        case Poison():
            return Phase.TOXIC
        case Fragment(noise=noise):
            return Phase.WAIT if noise is None else Phase.HEAD
        case Answer():
            return _phase_of_answer(act)
        case _:
            assert_never(act)


_IN_BODY = frozenset({Flaw.LENGTH_LONG, Flaw.CHUNK_SIZE, Flaw.BAD_TRAILER})


def _phase_of_answer(act: Answer) -> Phase:
    """Of several things the one that comes first in this order; a plain 200 is the absence of all."""
    if act.needs_stream:
        return Phase.STREAM
    if act.delay is not None or act.pace is not None:
        return Phase.TIME
    if act.interim or cut_in_head(act) or (act.flaw is not None and act.flaw not in (*_IN_BODY, Flaw.LENGTH_SHORT)):
        return Phase.HEAD
    if act.incomplete or act.flaw in _IN_BODY or act.framing in (Framing.CLOSE, Framing.TRAILERS):
        return Phase.BODY
    if act.surplus is not None or act.ending is not None or act.says is not Persistence.UNSAID or act.flaw is not None:
        return Phase.AFTER
    if act.status >= 300:
        return Phase.STATUS
    return Phase.NONE if act.content is Content.RESULT and act.coding is None else Phase.CONTENT
