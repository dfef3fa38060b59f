"""The faults that strike while a request is written: it is read in part, and ended, left, or answered too early."""

from faults.acts import AnswerEarly, LeaveUnread, StopReading
from faults.coverage import BESIDE_HEALTHY, LISTENER_DEEP, ONCE, Dimension, and_in
from faults.fault import RFC_RETRY, Fault
from faults.vocabulary import Content, Ending, Extent

_PARTS = (
    ("byte", Extent.FIRST_BYTE),
    ("line", Extent.REQUEST_LINE),
    ("head", Extent.HEAD),
    ("body", Extent.HALF_BODY),
)
# One reset for each part; of the others, those whose evidence costs no whole time-out, and the ends of the row.
_STOPS = (
    ("reset", Ending.RESET, "reset-after", ("byte", "line", "head", "body")),
    ("fin", Ending.FIN, "fin-after", ("head", "body")),
    ("silence", None, "silence-after", ("line", "body")),
)
_LARGE = and_in(Dimension.FIRST_OF_TWO_2MB, coverage=BESIDE_HEALTHY)
_LARGE_TOO = (("reset", "head"), ("reset", "body"))  # there a part of a large body has been written, and not all of it
_ENDS = {"reset": "the connection is reset", "fin": "the connection is closed", "silence": "nothing is ever sent"}


def request_faults() -> list[Fault]:
    """Read in part, stalled, answered early, and Expect left unanswered."""
    return [*_part_faults(), _write_stall(), *_early_faults(), *_expectation_faults()]


def _part_faults() -> list[Fault]:
    return [
        Fault(
            id=f"part-{name}-{end}",
            says=f"of the request only {part} is read; then {_ENDS[end]}",
            act=StopReading(until=part, ending=ending),
            row="W1",
            authority=RFC_RETRY,
            twin=twin,
            coverage=and_in(Dimension.FIRST_OF_TWO_2MB, coverage=BESIDE_HEALTHY)
            if (end, name) in _LARGE_TOO
            else BESIDE_HEALTHY,
        )
        for end, ending, twin, names in _STOPS
        for name, part in _PARTS
        if name in names
    ]


def _write_stall() -> Fault:
    return Fault(
        id="write-stall",
        says="nothing of the request is read, and the kernel takes next to nothing of it: the writing stalls",
        act=LeaveUnread(small_buffer=True),
        row="W4",
        authority=RFC_RETRY,
        twin="silence-after",
        coverage=and_in(Dimension.FIRST_OF_TWO_8MB, coverage=LISTENER_DEEP),
    )


def _early_faults() -> list[Fault]:
    contract = "the router's published contract; without one: " + RFC_RETRY
    liar = "after EXECUTE it would be a router that breaks its own contract"
    endings = (
        ("", Ending.FIN, "the connection is closed and the rest of the request read", _LARGE),
        ("-kept", None, "the connection stays open and the rest of the request is thrown away", BESIDE_HEALTHY),
        ("-abrupt", Ending.RESET, "the connection is closed at once with the rest unread, which resets it", _LARGE),
    )
    return [
        Fault(
            id="early-503",
            says="503 when only the head of the request is read; the connection is closed and the rest read",
            act=AnswerEarly(until=Extent.HEAD, status=503, content=Content.ERROR, ending=Ending.FIN),
            row="W2",
            authority=RFC_RETRY,
            twin="503-after",
            coverage=BESIDE_HEALTHY,
        ),
        *(
            Fault(
                id=f"early-503-no-workers{name}",
                says=f"503 with the body that the contract names, when only the head is read; {then}",
                act=AnswerEarly(until=Extent.HEAD, status=503, content=Content.NO_WORKERS, ending=ending),
                row="W2",
                authority=contract,
                no_twin=liar,
                coverage=coverage,
            )
            for name, ending, then, coverage in endings
        ),
    ]


def _expectation_faults() -> list[Fault]:
    return [
        Fault(
            id="expect-fin",
            says="Expect: 100-continue gets no answer; the connection is closed",
            act=StopReading(until=Extent.EXPECTATION, ending=Ending.FIN),
            row="W3",
            authority="RFC 9110 s10.1.1: a body may be sent without the 100; " + RFC_RETRY,
            twin="fin-after",
            coverage=BESIDE_HEALTHY,
        ),
        Fault(
            id="expect-417",
            says="Expect: 100-continue gets a 417, and the connection is closed",
            act=AnswerEarly(until=Extent.EXPECTATION, status=417, content=Content.ERROR, ending=Ending.FIN),
            row="W3",
            authority="RFC 9110 s10.1.1: a client that gets a 417 SHOULD repeat the request without the expectation",
            no_twin="after EXECUTE it would be a router that has met the expectation and denies it",
            coverage=ONCE,
        ),
        Fault(
            id="expect-503-no-workers",
            says="Expect: 100-continue gets a 503 with the body that the contract names, and the connection is closed",
            act=AnswerEarly(until=Extent.EXPECTATION, status=503, content=Content.NO_WORKERS, ending=Ending.FIN),
            row="W3",
            authority="RFC 9110 s10.1.1: a final status in place of the 100; the router's published contract",
            no_twin="after EXECUTE it would be a router that breaks its own contract",
            coverage=BESIDE_HEALTHY,
        ),
    ]
