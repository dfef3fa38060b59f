"""The wire picture of a fault: what passes between forwarder and router, drawn from its act, its truth and its sight.

A new act breaks the type check here until it is drawn; a new field of an act, or a new member of an enum, draws itself.
"""

from collections.abc import Iterator
from textwrap import wrap
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
    HeldAct,
    HoldPool,
    LeaveUnread,
    Misresolve,
    NeverAccept,
    Refuse,
    ResetAtAccept,
    Resolution,
    StopReading,
    Unreachable,
    needs_tls,
)
from faults.answer import Answer
from faults.disturbance import Disturb, Whose
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.poison import Moment, Poison, Poisoning
from faults.sight import evidence_of
from faults.steps import Step, Way, answer, ended, fragment, later, reply, silence
from faults.truth import truth_of
from faults.vocabulary import Ending, Sight

INSIDE = 60  # columns between the two lines of life


_SYN = Step(Way.TO_ROUTER, "SYN")
_CONNECTED = (_SYN, Step(Way.TO_FORWARDER, "SYN, ACK"))
_REQUEST = Step(Way.TO_ROUTER, "request: head and body")
_HELLO = Step(Way.TO_ROUTER, "ClientHello")
_SHAKEN = (_HELLO, Step(Way.TO_FORWARDER, "ServerHello, certificate, Finished"), Step(Way.TO_ROUTER, "Finished"))
_NO_CERTIFICATE = Step(Way.TO_ROUTER, "no certificate")
_SPOILED = {
    Spoil.RESET: Step(Way.TO_FORWARDER, "RST"),
    Spoil.FIN: Step(Way.TO_FORWARDER, "FIN"),
    Spoil.ALERT: Step(Way.TO_FORWARDER, "fatal alert handshake_failure; FIN"),
    Spoil.NO_PROTOCOL: Step(Way.TO_FORWARDER, "fatal alert no_application_protocol; FIN"),
    Spoil.PLAINTEXT: Step(Way.TO_FORWARDER, "an HTTP 400 in plain text; FIN"),
    Spoil.STALL: Step(Way.WAIT, "the ClientHello is never answered"),
}
_EXECUTE = Step(Way.AT_ROUTER, "EXECUTE")


def picture_of(act: Act) -> tuple[Step, ...]:
    """What passes on the wire when the act is done, in order."""
    return tuple(_steps(act))


def _steps(act: Act) -> Iterator[Step]:
    match act:
        case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn():
            yield from _dialled(act)
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            yield from (*_CONNECTED, *_handshake(act))
        case ResetAtAccept():
            yield from (*_CONNECTED, Step(Way.TO_FORWARDER, "RST, whether or not a byte of the request has arrived"))
        case EndIdle():
            yield from _idle(act)
        case NeverAccept() | EndUnread() | LeaveUnread() | StopReading() | AnswerEarly():
            yield from (*_CONNECTED, _REQUEST, *_unread(act))
        case Poison():
            yield from _poisoned(act)
        case Disturb():
            yield from _disturbed(act)
        case Hang():
            yield from (*_CONNECTED, _REQUEST, *_read(act), *silence())
        case End(ending=ending):
            yield from (*_opened(act), _REQUEST, *_read(act), ended(ending))
        case Fragment():
            yield from (*_opened(act), _REQUEST, *_read(act), *fragment(act))
        case Answer():
            yield from (*_opened(act), _REQUEST, *_read(act), *answer(act))
        case _:
            assert_never(act)


def _dialled(act: DialAct) -> Iterator[Step]:
    """There is no connection."""
    match act:
        case HoldPool():
            yield Step(Way.WAIT, "nothing leaves the forwarder")
        case Misresolve(how=how):
            yield from (Step(Way.AT_ROUTER, "its name is asked for"), Step(Way.TO_FORWARDER, f"DNS: {how}"))
            if how is Resolution.STALE:
                yield from (Step(Way.LOST, "SYN, elsewhere"), Step(Way.TO_FORWARDER, "RST, from there"))
        case Refuse():
            yield from (_SYN, Step(Way.TO_FORWARDER, "RST"))
        case Unreachable():
            yield from (_SYN, Step(Way.TO_FORWARDER, "ICMP host unreachable"))
        case DropSyn():
            yield from (Step(Way.LOST, "SYN"), Step(Way.WAIT, "the connect time-out"))
        case _:
            assert_never(act)


def _unread(act: NeverAccept | HeldAct) -> Iterator[Step]:
    """What becomes of a request that is not read, or not to its end."""
    match act:
        case NeverAccept(closes=closes):
            yield Step(Way.AT_ROUTER, "nobody accepts the connection")
            closed = (Step(Way.AT_ROUTER, "the listening socket is closed"), ended(Ending.RESET))
            yield from closed if closes else silence()
        case EndUnread():
            yield from (Step(Way.AT_ROUTER, "nothing is read"), ended(act.ending))
            if act.abandoned:
                yield Step(Way.AT_ROUTER, "the socket is closed with the request unread: RST behind the FIN")
        case LeaveUnread(serve_after=late):
            little = " and next to nothing taken by the kernel" if act.small_buffer else ""
            yield Step(Way.AT_ROUTER, f"nothing is read{little}")
            yield from silence() if late is None else (later(late), *_read(act), *reply(200, "result"))
        case StopReading():
            yield Step(Way.AT_ROUTER, f"reads {act.until}, and no more")
            yield from silence() if act.ending is None else (ended(act.ending),)
        case AnswerEarly():
            yield from (Step(Way.AT_ROUTER, f"reads {act.until}"), *_early(act))
        case _:
            assert_never(act)


def _poisoned(act: Poison) -> Iterator[Step]:
    """Toxiproxy lies between the two lines."""
    poison = Step(Way.AT_ROUTER, f"Toxiproxy is told: {act.toxic.value}")
    if act.strikes_dials:
        yield from (poison, _SYN, Step(Way.TO_FORWARDER, "RST"))
        return
    before = {Moment.CONNECT: (poison, *_CONNECTED), Moment.IDLE: (*_CONNECTED, poison)}.get(act.at, _CONNECTED)
    yield from before
    passes = f"{act.passes_bytes} bytes of the " if act.passes_bytes else "the "
    if act.strikes_requests:
        yield from (Step(Way.LOST, f"{passes}request"), _lost(act))
        return
    yield _REQUEST
    if act.at is Moment.RECEIVED:
        yield from (poison, _lost(act))
        return
    yield _EXECUTE
    if act.at is Moment.BODY:
        yield Step(Way.TO_FORWARDER, "head and half of the body")
    if act.holds:
        yield poison
    yield from (Step(Way.AT_ROUTER, f"{passes}reply"), _lost(act))


def _disturbed(act: Disturb) -> Iterator[Step]:
    """The container lies between the two lines."""
    done = Step(Way.AT_ROUTER, f"Docker: {act.how.value}")
    sight = evidence_of(act).sight
    if act.at is Moment.CONNECT:
        yield done
        if sight is Sight.REFUSED:
            yield from (_SYN, Step(Way.TO_FORWARDER, "RST"))
        elif sight is Sight.CONNECT_TIMEOUT:
            yield from (Step(Way.LOST, "SYN"), Step(Way.WAIT, "the connect time-out"))
        else:
            yield from (*_CONNECTED, Step(Way.LOST, "the request"), *silence())
        return
    yield from (*_CONNECTED, _REQUEST, *(() if act.at is Moment.RECEIVED else (_EXECUTE,)), done)
    if act.whose is Whose.FORWARDER:
        yield Step(Way.LOST, "what it had in hand" if act.ends_forwarder else "its read timeout")
        return
    yield from silence() if sight is Sight.SILENCE else (Step(Way.TO_FORWARDER, "FIN"),)


def _lost(act: Poison) -> Step:
    sight = evidence_of(act).sight
    if act.after is not None:
        return Step(Way.TO_FORWARDER, f"{act.after:.2g} times the read time-out later: FIN")
    if act.toxic is Poisoning.TIMEOUT:
        return Step(Way.WAIT, "nothing comes through")
    return Step(Way.TO_FORWARDER, "RST" if sight is Sight.RESET else "FIN")


def _opened(act: Act) -> tuple[Step, ...]:
    return (*_CONNECTED, *_SHAKEN) if needs_tls(act) else _CONNECTED


def _handshake(act: HandshakeAct) -> tuple[Step, ...]:
    match act:
        case SpoilHandshake(how=how):
            return _HELLO, _SPOILED[how]
        case ShowCertificate(flaw=flaw):
            shown = Step(Way.TO_FORWARDER, f"ServerHello, certificate: {flaw}")
            return _HELLO, shown, Step(Way.TO_ROUTER, "fatal alert, or FIN; no request")
        case DemandCertificate(version=version):
            demanded = Step(Way.TO_FORWARDER, f"ServerHello (TLS {version}), demand for a certificate")
            alert = Step(Way.TO_FORWARDER, "fatal alert; FIN")
            late = Step(Way.TO_ROUTER, "no certificate, Finished; the request, if it is faster than the alert")
            return _HELLO, demanded, late if version is TlsVersion.TLS_1_3 else _NO_CERTIFICATE, alert
        case _:
            assert_never(act)


def _idle(act: EndIdle) -> Iterator[Step]:
    yield Step(Way.AT_ROUTER, "a connection lies idle after its last exchange")
    if act.status is not None:
        yield Step(Way.TO_FORWARDER, f"an answer that nobody asked for: HTTP/1.1 {act.status}")
    yield from (ended(act.ending), *_CONNECTED, _REQUEST)
    yield Step(Way.AT_ROUTER, "the request came on a new connection: healthy")


def _early(act: AnswerEarly) -> Iterator[Step]:
    if act.ending is None:
        yield from reply(act.status, act.content)
        yield Step(Way.AT_ROUTER, "the rest is read and thrown away; the connection stays open")
        return
    yield from reply(act.status, act.content, "Connection: close")
    if act.ending is Ending.RESET:
        yield Step(Way.AT_ROUTER, "closes with the rest unread: RST behind the answer, or before it is read")
    else:
        yield Step(Way.AT_ROUTER, "sends FIN, and reads the rest until the forwarder has closed too")


def _read(act: Act) -> Iterator[Step]:
    """What the router does with a request that it has read: the truth of it."""
    truth = truth_of(act)
    if truth.executed:
        yield _EXECUTE
    elif truth.received:
        yield Step(Way.AT_ROUTER, "read, and not accepted" if not truth.accepted else "accepted, and not executed")


def drawn(act: Act) -> list[str]:
    """The picture as lines of text; the last one says what the forwarder has in hand."""
    lines = ["forwarder" + "router".rjust(INSIDE + 4 - len("forwarder"))]
    for step in picture_of(act):
        *before, last = wrap(step.says, INSIDE - 8)
        lines += [f" |{f'{says}   '.rjust(INSIDE)}|" for says in before]  # the arrow is under the last line
        lines.append(_line(step.way, last))
    evidence = evidence_of(act)
    sees = str(evidence.sight) + (f", {evidence.status}" if evidence.sight is Sight.STATUS else "")
    return [*lines, f"the forwarder has: {sees}"]


def _line(way: Way, says: str) -> str:
    match way:
        case Way.TO_ROUTER:
            return f" |{f'-- {says} '.ljust(INSIDE - 1, '-')}>|"
        case Way.LOST:
            return f" |{f'-- {says} '.ljust(INSIDE // 2, '-')}x{'':{INSIDE - INSIDE // 2 - 1}}|"
        case Way.TO_FORWARDER:
            return f" |<{f' {says} --'.rjust(INSIDE - 1, '-')}|"
        case Way.AT_ROUTER:
            return f" |{f'{says} '.rjust(INSIDE)}*"
        case Way.WAIT:
            return f" :{says.center(INSIDE)}:"
        case _:
            assert_never(way)
