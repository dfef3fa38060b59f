"""The table of truth: what has really happened at the router when an act is done, and what the peer sees of it.

Two facts for each act that no forwarder can put together: `truth` is the router's side of EXECUTE, `sight`
the forwarder's side of the socket.
"""

from dataclasses import dataclass
from typing import assert_never

from faults.acts import (
    Act,
    Answer,
    DropSyn,
    End,
    Hang,
    HoldPool,
    LeaveUnread,
    Misresolve,
    Refuse,
    ResetAtAccept,
    ResetUnread,
    Resolution,
    Unreachable,
)
from faults.contents import fixed_content
from faults.evidence import Evidence
from faults.handshake import DemandCertificate, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.vocabulary import Content, Ending, Phase, Replied, Side, Sight


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
        case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn() | ResetAtAccept() | ResetUnread():
            return NO_EXCHANGE
        case LeaveUnread(serve_after=None):
            return NO_EXCHANGE
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return NO_EXCHANGE
        case LeaveUnread():
            return Truth(received=True, accepted=True, executed=True, replied=Replied.WHOLE)
        case Hang(side=side) | End(side=side):
            return _struck(side, Replied.NOTHING)
        case Answer(side=side, cut=cut):
            return _struck(side, Replied.WHOLE if cut is None else Replied.PART)
        case _:
            assert_never(act)


def _struck(side: Side, replied: Replied) -> Truth:
    executed = side is Side.AFTER
    return Truth(received=True, accepted=executed, executed=executed, replied=replied)


def sight_of(act: Act) -> Sight:
    """What a forwarder sees whose read timeout is the one that multiples in the act refer to.

    A reply beyond the read timeout is silence to it; the reply itself reaches nobody.
    """
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
        case ResetAtAccept() | ResetUnread():
            return Sight.RESET
        case SpoilHandshake(how=how):
            return Sight.TLS_STALLED if how is Spoil.STALL else Sight.TLS_FAILED
        case ShowCertificate():
            return Sight.TLS_FAILED
        case DemandCertificate(version=version):
            return Sight.TLS_FAILED if version is TlsVersion.TLS_1_2 else Sight.TLS_REFUSED
        case Hang():
            return Sight.SILENCE
        case LeaveUnread(serve_after=late):
            return Sight.SILENCE if late is None or late >= 1 else Sight.WHOLE
        case End(ending=ending):
            return _SIGHT_OF_END[ending]
        case Answer():
            return _sight_of_answer(act)
        case _:
            assert_never(act)


_SIGHT_OF_END = {
    Ending.FIN: Sight.FIN,
    Ending.RESET: Sight.RESET,
    Ending.TRUNCATION: Sight.TRUNCATION,
    Ending.ALERT: Sight.ALERT,
}


def _sight_of_answer(act: Answer) -> Sight:
    if act.delay is not None and act.delay >= 1:
        return Sight.SILENCE
    if act.cut is not None:
        return Sight.CUT
    return Sight.WHOLE if act.status < 300 else Sight.STATUS


def shows_its_cause(act: Act) -> bool:
    """The forwarder certainly had this evidence, so its decision may be judged.

    A reset at accept may meet it before or after it wrote its first byte, and the router cannot know which
    (measured on nginx: retried when no byte had been seen, not retried when one had): that act only tells. So does a
    client certificate that is demanded under TLS 1.3: its alert may come before or after the request was written.
    """
    return not isinstance(act, ResetAtAccept) and sight_of(act) is not Sight.TLS_REFUSED


def asks_for_refusal(act: Act) -> bool:
    """A peer that keeps the rules ends such a connection without a request (RFC 9110 s4.3.4)."""
    return isinstance(act, ShowCertificate)


def evidence_of(act: Act) -> Evidence:
    """The sight, and for a reply its status and (where it names no operation) its body."""
    sight = sight_of(act)
    if not isinstance(act, Answer) or sight is Sight.SILENCE:
        return Evidence(sight=sight, status=200 if sight is Sight.WHOLE else None)
    body = b"" if act.content is Content.RESULT else fixed_content(act.content)[1]
    return Evidence(sight=sight, status=act.status, body=body)


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
        case ResetAtAccept() | LeaveUnread():
            return Phase.ACCEPT
        case ResetUnread():
            return Phase.REQUEST
        case Hang() | End():
            return Phase.WAIT
        case Answer():
            return _phase_of_answer(act)
        case _:
            assert_never(act)


def _phase_of_answer(act: Answer) -> Phase:
    if act.delay is not None:
        return Phase.TIME
    if act.cut is not None:
        return Phase.BODY
    if act.status >= 300:
        return Phase.STATUS
    return Phase.NONE if act.content is Content.RESULT else Phase.CONTENT
