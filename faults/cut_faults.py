"""The faults of a reply that stops before its end: at named points, and at any byte."""

from functools import partial

from faults.answer import MAX_CUT, VERSION_BYTES, Answer, Cut
from faults.coverage import CORE, ONCE, REUSED_TOO, Coverage, in_all_forms, over_tls, streamed
from faults.families import Family
from faults.fault import RAN, RFC_RETRY, Fault
from faults.vocabulary import Content, Ending, Framing, Point, Side

_RFC_CUT = "RFC 9112 s8: the message is incomplete"
_RFC_LENGTH = "RFC 9112 s6.3: a body without a length ends with its connection"
_RFC_ERROR = "RFC 9112 s8: a body that ends with its connection is not whole where an error ended that"
_ENDS = {Ending.FIN: "FIN", Ending.RESET: "RST"}

_IN_HEAD = (
    ("headers", Point.HEADERS, "a 200 that stops inside its header section", "R2", ONCE),
    ("head", Point.HEAD, "the head of a 200 and nothing of its body", "B1", streamed(ONCE)),
)
_STREAMS_TOO = streamed(REUSED_TOO)
_IN_BODY = (
    ("length", Framing.LENGTH, Point.HALF, "B1", "half of the body, short of Content-Length,", over_tls(CORE)),
    ("chunked", Framing.CHUNKED, Point.HALF, "B2", "half of a chunked body,", in_all_forms(CORE)),
    ("last-chunk", Framing.CHUNKED, Point.LAST_CHUNK, "B2", "all of a chunked body but its last chunk,", _STREAMS_TOO),
    ("in-last-chunk", Framing.CHUNKED, Point.IN_LAST_CHUNK, "B2", "a chunked body without its last line,", ONCE),
    ("close", Framing.CLOSE, Point.HALF, "B3", "half of an HTTP/1.0 body without a length,", over_tls(ONCE)),
)


def cut_faults() -> list[Fault]:
    """Cuts of a 200, in wire order; then a body that stalls."""
    return [
        *_twins("status-line", Point.STATUS_LINE, "a reply that stops before its status", "R1"),
        *_twins("503-headers", Point.HEADERS, "a 503 that stops inside its header section", "R2"),
        *_twins("503-body", Point.HALF, "a 503 that stops inside its body", "B1"),
        *(
            _cut(
                f"{name}-{ending}",
                f"{says}, then {_ENDS[ending]}",
                row,
                Answer(side=Side.AFTER, cut=cut, ending=ending),
                coverage=coverage,
            )
            for name, cut, says, row, coverage in _IN_HEAD
            for ending in _ENDS
        ),
        *(
            _cut(
                f"body-{name}-{ending}",
                f"200 with {says} then {_ENDS[ending]}",
                row,
                Answer(side=Side.AFTER, framing=framing, cut=cut, ending=ending),
                _RFC_CUT if framing is not Framing.CLOSE else _RFC_LENGTH if ending is Ending.FIN else _RFC_ERROR,
                coverage,
            )
            for name, framing, cut, row, says, coverage in _IN_BODY
            for ending in _ENDS
        ),
        _cut("body-stall", "200 with half of the body, then silence", "B4", _at(Point.HALF, None)),
    ]


def _at(cut: Cut, ending: Ending | None) -> Answer:
    return Answer(side=Side.AFTER, cut=cut, ending=ending)


def _cut(id_: str, says: str, row: str, act: Answer, authority: str = _RFC_CUT, coverage: Coverage = ONCE) -> Fault:
    return Fault(id=id_, says=says, act=act, row=row, authority=authority, no_twin=RAN, coverage=coverage)


def _twins(name: str, cut: Point, says: str, row: str) -> list[Fault]:
    """Where no 2xx has been seen, the same bytes come from a router that has executed and from one that has not."""
    return [
        Fault(
            id=f"{name}-{ending}-{side}",
            says=f"{side} EXECUTE {says}, then {_ENDS[ending]}",
            act=Answer(side=side, status=503, content=Content.ERROR, cut=cut, ending=ending),
            row=row,
            authority=f"{_RFC_CUT}; {RFC_RETRY}",
            twin=f"{name}-{ending}-{other}",
        )
        for ending in _ENDS
        for side, other in ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE))
    ]


def cut_families() -> tuple[Family, ...]:
    """A cut after any byte of a small reply; where the status has not been said yet, before EXECUTE as well."""
    return tuple(
        family
        for ending in _ENDS
        for family in (
            Family(
                name=f"cut-at-N-{ending}",
                says=f"the first N bytes of a 200, then {_ENDS[ending]}",
                last=MAX_CUT,
                shown=(1, 100),
                build=partial(_after, ending),
            ),
            Family(
                name=f"cut-at-N-{ending}-before",
                says=f"before EXECUTE the first N bytes of a 503, then {_ENDS[ending]}",
                last=VERSION_BYTES,
                shown=(1,),
                build=partial(_before, ending),
            ),
        )
    )


def _after(ending: Ending, number: int) -> Fault:
    unseen = number <= VERSION_BYTES
    return Fault(
        id=f"cut-at-{number}-{ending}",
        says=f"the first {number} bytes of a 200, then {_ENDS[ending]}",
        act=_at(number, ending),
        row="R1" if number < len("HTTP/1.1 200 OK\r\n") else "R2",
        authority=f"{_RFC_CUT}; {RFC_RETRY}" if unseen else _RFC_CUT,
        twin=f"cut-at-{number}-{ending}-before" if unseen else None,
        no_twin="" if unseen else RAN,
    )


def _before(ending: Ending, number: int) -> Fault:
    return Fault(
        id=f"cut-at-{number}-{ending}-before",
        says=f"before EXECUTE the first {number} bytes of a 503, then {_ENDS[ending]}",
        act=Answer(side=Side.BEFORE, status=503, content=Content.ERROR, cut=number, ending=ending),
        row="R1",
        authority=f"{_RFC_CUT}; {RFC_RETRY}",
        twin=f"cut-at-{number}-{ending}",
    )
