"""The table of truth: what has really happened at the router when an act is done, and where in wire order that is.

What the forwarder sees of it is in `faults/sight.py`: no forwarder can put the two together.
"""

from dataclasses import dataclass
from typing import assert_never

from faults.acts import (
    Act,
    AnswerEarly,
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
    StopReading,
    Unreachable,
)
from faults.answer import NEAR, Answer
from faults.disturbance import Disturb
from faults.handshake import DemandCertificate, ShowCertificate, SpoilHandshake
from faults.poison import Moment, Poison
from faults.sight import cut_in_head
from faults.vocabulary import Content, Flaw, Framing, Persistence, Phase, Replied, Side


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
        case Disturb():
            return NO_EXCHANGE if act.at is Moment.CONNECT else _truth_at(act.at)
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
    return _truth_at(act.at)


def _truth_at(at: Moment) -> Truth:
    """Of what has reached the router, when that moment has come."""
    if at is Moment.RECEIVED:
        return Truth(received=True, accepted=False, executed=False, replied=Replied.NOTHING)
    return Truth(received=True, accepted=True, executed=True, replied=Replied.WHOLE)


def _struck(side: Side, replied: Replied) -> Truth:
    executed = side is Side.AFTER
    return Truth(received=True, accepted=executed, executed=executed, replied=replied)


def may_take_less(act: Act) -> bool:
    """The kernel may take less of its reply than all: its peer may have gone before."""
    return isinstance(act, LeaveUnread | Poison | Disturb) or (isinstance(act, Answer) and act.lasts > 0)


def is_late(act: Act) -> bool:
    """It lasts so long that a forwarder may have given up before its end, or gives up for certain."""
    return isinstance(act, Answer) and act.lasts >= NEAR


def speaks_unasked(act: Act) -> bool:
    """It sends more when its peer has all that it asked for. Who writes the next request before that cannot tell it
    from an answer; who writes it afterwards can.
    """
    return isinstance(act, Answer) and act.surplus_after is not None


def asks_for_refusal(act: Act) -> bool:
    """A peer that keeps the rules ends such a connection without a request (RFC 9110 s4.3.4)."""
    return isinstance(act, ShowCertificate)


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
        case Disturb():
            return Phase.CONTAINER
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
