"""What a forwarder sees of an act, and so the evidence that it has in hand: its side of the socket."""

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
from faults.disturbance import Disturb, sight_of_disturbance
from faults.evidence import Evidence
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.poison import Poison, sight_of_poison, status_seen
from faults.vocabulary import Ending, Flaw, Framing, Point, Sight


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
        case Disturb():
            return sight_of_disturbance(act)
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


def sight_is_certain(act: Act, slower: float = 0.0) -> bool:
    """The forwarder sees the same on every machine. What comes close to its read timeout may come on either side;
    `slower`: by how many read timeouts it may come later than the router sent it.
    """
    if isinstance(act, Disturb):
        return act.shows_the_same
    if not isinstance(act, Answer) or not act.lasts:
        return True
    if isinstance(act.pace, Spaced):
        return act.pace.pause + slower < NEAR
    return act.lasts + slower < NEAR or act.lasts >= 2 - NEAR


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
