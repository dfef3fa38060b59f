"""What passes on the wire, step by step; and the steps of which the replies of a router are made."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from typing import assert_never

from faults.acts import Fragment
from faults.answer import Answer, Drip, Hold, Pause, Spaced
from faults.sight import evidence_of
from faults.truth import truth_of
from faults.vocabulary import Ending, Replied, Sight


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


_ENDED = {
    Ending.FIN: "FIN",
    Ending.RESET: "RST",
    Ending.TRUNCATION: "FIN, and no close_notify",
    Ending.ALERT: "fatal alert; FIN",
}
# Fields of an answer that are drawn by name.
_PLACED = frozenset({"side", "status", "content", "interim", "delay", "pace", "surplus", "surplus_after", "ending"})


def fragment(act: Fragment) -> Iterator[Step]:
    """Bytes that are no final reply, and the end."""
    yield from interim(act.interim)
    if act.noise is not None:
        yield Step(Way.TO_FORWARDER, f"bytes that are no HTTP: {act.noise}")
    yield Step(Way.AT_ROUTER, "the rest is never sent")
    yield from silence() if act.ending is None else (ended(act.ending),)


def interim(statuses: tuple[int, ...]) -> Iterator[Step]:
    """Interim responses."""
    for status in statuses:
        yield Step(Way.TO_FORWARDER, f"HTTP/1.1 {status}, interim")


def answer(act: Answer) -> Iterator[Step]:
    """A final reply, in its order on the wire."""
    if act.delay is not None:
        yield later(act.delay)
    yield from interim(act.interim)
    notes = [
        f"{field.name.replace('_', ' ')}: {_word(getattr(act, field.name))}"
        for field in fields(act)
        if field.name not in _PLACED and getattr(act, field.name) != field.default
    ]
    if evidence_of(act).status is None and evidence_of(act).sight is Sight.HEAD_CUT:
        yield Step(Way.TO_FORWARDER, "; ".join(("HTTP/1.1 and no status", *notes)))
    else:
        yield from reply(act.status, act.content, *notes, *_paced(act))
    if truth_of(act).replied is not Replied.WHOLE:
        yield Step(Way.AT_ROUTER, "the rest is never sent")
    if act.surplus_after is not None:
        yield later(act.surplus_after)
    if act.surplus is not None:
        yield Step(Way.TO_FORWARDER, f"unasked, behind it: {act.surplus}")
    if act.ending is not None:
        yield ended(act.ending)


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


def reply(status: int, content: str, *notes: str) -> tuple[Step, ...]:
    """Its head and body in one step, with what is remarkable about them."""
    return (Step(Way.TO_FORWARDER, "; ".join((f"HTTP/1.1 {status}, body: {content}", *notes))),)


def _word(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)


def later(timeouts: float) -> Step:
    """So many read time-outs go by."""
    return Step(Way.WAIT, f"{timeouts:.2g} times the read time-out")


def silence() -> tuple[Step, ...]:
    """Nothing ever comes."""
    return (Step(Way.WAIT, "no byte is ever sent"),)


def ended(ending: Ending) -> Step:
    """The router ends the connection."""
    return Step(Way.TO_FORWARDER, _ENDED[ending])
