"""The wire picture of a fault: what passes between forwarder and router, drawn from its act, its truth and its sight.

A new act breaks the type check here until it is drawn; a new field of an act, or a new member of an enum, draws itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from textwrap import wrap
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
    Resolution,
    StopReading,
    Unreachable,
    needs_tls,
)
from faults.answer import Answer, Drip, Hold, Pause, Spaced
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.poison import Moment, Poison, Poisoning
from faults.truth import evidence_of, truth_of
from faults.vocabulary import Ending, Replied, Sight

INSIDE = 60  # columns between the two lines of life


class Way(StrEnum):
    """Which way something goes."""

    TO_ROUTER = "->"
    LOST = "-x"  # to the router, and it does not arrive
    TO_FORWARDER = "<-"
    AT_ROUTER = "|*"  # inside the router
    WAIT = "::"  # time goes by


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens on the wire."""

    way: Way
    says: str


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
_ENDED = {
    Ending.FIN: "FIN",
    Ending.RESET: "RST",
    Ending.TRUNCATION: "FIN, and no close_notify",
    Ending.ALERT: "fatal alert; FIN",
}
# Fields of an answer that are drawn by name.
_PLACED = frozenset({"side", "status", "content", "interim", "delay", "pace", "surplus", "surplus_after", "ending"})


def picture_of(act: Act) -> tuple[Step, ...]:
    """What passes on the wire when the act is done, in order."""
    return tuple(_steps(act))


def _steps(act: Act) -> Iterator[Step]:
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
        case ResetAtAccept():
            yield from (*_CONNECTED, Step(Way.TO_FORWARDER, "RST, whether or not a byte of the request has arrived"))
        case EndIdle():
            yield from _idle(act)
        case NeverAccept(closes=closes):
            yield from (*_CONNECTED, _REQUEST, Step(Way.AT_ROUTER, "nobody accepts the connection"))
            closed = (Step(Way.AT_ROUTER, "the listening socket is closed"), _ended(Ending.RESET))
            yield from closed if closes else _silence()
        case EndUnread():
            yield from (*_CONNECTED, _REQUEST, Step(Way.AT_ROUTER, "nothing is read"), _ended(act.ending))
            if act.abandoned:
                yield Step(Way.AT_ROUTER, "the socket is closed with the request unread: RST behind the FIN")
        case LeaveUnread(serve_after=late):
            little = " and next to nothing taken by the kernel" if act.small_buffer else ""
            yield from (*_CONNECTED, _REQUEST, Step(Way.AT_ROUTER, f"nothing is read{little}"))
            yield from _silence() if late is None else (_later(late), *_read(act), *_reply(200, "result"))
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            yield from (*_CONNECTED, *_handshake(act))
        case StopReading():
            yield from (*_CONNECTED, _REQUEST, Step(Way.AT_ROUTER, f"reads {act.until}, and no more"))
            yield from _silence() if act.ending is None else (_ended(act.ending),)
        case AnswerEarly():
            yield from (*_CONNECTED, _REQUEST, Step(Way.AT_ROUTER, f"reads {act.until}"), *_early(act))
        case Hang():
            yield from (*_CONNECTED, _REQUEST, *_read(act), *_silence())
        case End(ending=ending):
            yield from (*_opened(act), _REQUEST, *_read(act), _ended(ending))
        case Fragment():
            yield from (*_opened(act), _REQUEST, *_read(act), *_fragment(act))
        case Poison():
            yield from _poisoned(act)
        case Answer():
            yield from (*_opened(act), _REQUEST, *_read(act), *_answer(act))
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
    yield from (_ended(act.ending), *_CONNECTED, _REQUEST)
    yield Step(Way.AT_ROUTER, "the request came on a new connection: healthy")


def _early(act: AnswerEarly) -> Iterator[Step]:
    if act.ending is None:
        yield from _reply(act.status, act.content)
        yield Step(Way.AT_ROUTER, "the rest is read and thrown away; the connection stays open")
        return
    yield from _reply(act.status, act.content, "Connection: close")
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


def _fragment(act: Fragment) -> Iterator[Step]:
    yield from _interim(act.interim)
    if act.noise is not None:
        yield Step(Way.TO_FORWARDER, f"bytes that are no HTTP: {act.noise}")
    yield Step(Way.AT_ROUTER, "the rest is never sent")
    yield from _silence() if act.ending is None else (_ended(act.ending),)


def _interim(statuses: tuple[int, ...]) -> Iterator[Step]:
    for status in statuses:
        yield Step(Way.TO_FORWARDER, f"HTTP/1.1 {status}, interim")


def _answer(act: Answer) -> Iterator[Step]:
    if act.delay is not None:
        yield _later(act.delay)
    yield from _interim(act.interim)
    notes = [
        f"{field.name.replace('_', ' ')}: {_word(getattr(act, field.name))}"
        for field in fields(act)
        if field.name not in _PLACED and getattr(act, field.name) != field.default
    ]
    if evidence_of(act).status is None and evidence_of(act).sight is Sight.HEAD_CUT:
        yield Step(Way.TO_FORWARDER, "; ".join(("HTTP/1.1 and no status", *notes)))
    else:
        yield from _reply(act.status, act.content, *notes, *_paced(act))
    if truth_of(act).replied is not Replied.WHOLE:
        yield Step(Way.AT_ROUTER, "the rest is never sent")
    if act.surplus_after is not None:
        yield _later(act.surplus_after)
    if act.surplus is not None:
        yield Step(Way.TO_FORWARDER, f"unasked, behind it: {act.surplus}")
    if act.ending is not None:
        yield _ended(act.ending)


def _paced(act: Answer) -> Iterator[str]:
    match act.pace:
        case None:
            return
        case Drip(pieces=None):
            yield "each byte by itself"
        case Drip(pieces=pieces, pause=pause):
            yield f"in {pieces} pieces, {pause:.2g} times the read time-out between two"
        case Spaced(pause=pause):
            yield f"event by event, {pause:.2g} times the read time-out before each"
        case Hold(at=point):
            yield f"held {'before its first byte' if point is None else f'at its {point}'}"
        case Pause(at=point, length=length):
            yield f"at its {point} it pauses for {length:.2g} times the read time-out"
        case _:
            assert_never(act.pace)


def _reply(status: int, content: str, *notes: str) -> tuple[Step, ...]:
    return (Step(Way.TO_FORWARDER, "; ".join((f"HTTP/1.1 {status}, body: {content}", *notes))),)


def _word(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)


def _later(timeouts: float) -> Step:
    return Step(Way.WAIT, f"{timeouts:.2g} times the read time-out")


def _silence() -> tuple[Step, ...]:
    return (Step(Way.WAIT, "no byte is ever sent"),)


def _ended(ending: Ending) -> Step:
    return Step(Way.TO_FORWARDER, _ENDED[ending])


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
