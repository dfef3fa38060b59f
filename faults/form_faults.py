"""The faults of a 200 that is sent whole, in a form that is wrong or rare: interim responses before it, flaws of its
head and framing, and what comes behind it.
"""

from faults.answer import Answer, Pause
from faults.coverage import FOLLOWED_ONLY, FOLLOWED_TOO, ONCE, Coverage
from faults.fault import RAN, Fault
from faults.vocabulary import Content, Ending, Flaw, Framing, Persistence, Point, Side, Surplus

_RFC_INTERIM = "RFC 9110 s15.2: a client reads on until the final response"
_RFC_FRAMING = "RFC 9112 s6.3: how the body's length is found"
_RFC_PERSISTENCE = "RFC 9112 s9.3, s9.6: whether the connection goes on"
_RFC_SURPLUS = "RFC 9112 s9.2: bytes without an outstanding request are no response; the connection is to be closed"

_Row = tuple[str, str, str, Answer, str, Coverage]  # id, says, row, act, authority, coverage


def form_faults() -> list[Fault]:
    """In wire order."""
    return [
        Fault(id=id_, says=says, act=act, row=row, authority=authority, no_twin=RAN, coverage=coverage)
        for id_, says, row, act, authority, coverage in (
            *_interim(),
            *_heads(),
            *_lengths(),
            *_framings(),
            *_closes(),
            *_behind(),
        )
    ]


def _interim() -> list[_Row]:
    return [
        (
            f"{statuses[-1]}-then-200" if len(statuses) == 1 else "interim-then-200",
            f"interim {' and '.join(map(str, statuses))}, then the reply",
            "H4",
            Answer(side=Side.AFTER, interim=statuses),
            _RFC_INTERIM,
            ONCE,
        )
        for statuses in ((100,), (102,), (103,), (100, 103, 103))
    ]


def _heads() -> list[_Row]:
    flaws = (
        (Flaw.LENGTH_TWICE, "the same Content-Length twice", _RFC_FRAMING, None),
        (Flaw.LENGTHS_DIFFER, "two different Content-Lengths, then FIN", _RFC_FRAMING, Ending.FIN),
        (Flaw.OBS_FOLD, "a header folded over two lines", "RFC 9112 s5.2: refused, or unfolded", None),
        (Flaw.BARE_LF, "lines that end with LF alone", "RFC 9112 s2.2: a recipient may recognise it", None),
        (Flaw.LONG_HEADER, "a header of 70,000 bytes", "RFC 9110 s5.4: no limit is prescribed", None),
        (Flaw.NUL_IN_HEADER, "a NUL in a header", "RFC 9110 s5.5: refused, or replaced by a space", None),
        (Flaw.BAD_HEADER_NAME, "a space in a header's name", "RFC 9112 s5.1: no whitespace is allowed there", None),
    )
    rows = [
        (flaw.value, f"200 with {says}", "Z4", Answer(side=Side.AFTER, flaw=flaw, ending=ending), authority, ONCE)
        for flaw, says, authority, ending in flaws
    ]
    both = Answer(side=Side.AFTER, framing=Framing.CHUNKED, flaw=Flaw.BOTH_FRAMINGS)
    says = "a chunked 200 with a Content-Length beside it"
    return [*rows, (Flaw.BOTH_FRAMINGS.value, says, "Z4", both, _RFC_FRAMING, FOLLOWED_TOO)]


def _lengths() -> list[_Row]:
    long = "200 with all of its body and a Content-Length that says more"
    return [
        ("length-long-fin", f"{long}, then FIN", "B1", _flawed(Flaw.LENGTH_LONG, Ending.FIN), _RFC_FRAMING, ONCE),
        ("length-long-stall", f"{long}, then silence", "B4", _flawed(Flaw.LENGTH_LONG, None), _RFC_FRAMING, ONCE),
        (
            "length-short",
            "200 with a Content-Length that says half: the rest looks like the next reply",
            "Z5",
            _flawed(Flaw.LENGTH_SHORT, None),
            _RFC_SURPLUS,
            FOLLOWED_ONLY,
        ),
    ]


def _framings() -> list[_Row]:
    return [
        (
            "chunk-size",
            "a chunked 200 whose second chunk has a size that is no number, then FIN",
            "B2",
            Answer(side=Side.AFTER, framing=Framing.CHUNKED, flaw=Flaw.CHUNK_SIZE, ending=Ending.FIN),
            "RFC 9112 s7.1, s8: the message is incomplete",
            ONCE,
        ),
        (
            "chunk-size-apart",
            "a chunked 200 whose second chunk comes a little later, with a size that is no number, then FIN",
            "B2",
            Answer(
                side=Side.AFTER,
                framing=Framing.CHUNKED,
                flaw=Flaw.CHUNK_SIZE,
                pace=Pause(at=Point.HALF, length=0.1),
                ending=Ending.FIN,
            ),
            "RFC 9112 s7.1, s8: the message is incomplete (measured: aiohttp 3.14 waits for ever)",
            ONCE,
        ),
        (
            "trailers",
            "a chunked 200 with a trailer",
            "Z1",
            Answer(side=Side.AFTER, framing=Framing.TRAILERS),
            "RFC 9110 s6.5: trailers may be ignored",
            FOLLOWED_TOO,
        ),
        (
            "bad-trailer",
            "a chunked 200 with a trailer that has no colon",
            "Z1",
            Answer(side=Side.AFTER, framing=Framing.CHUNKED, flaw=Flaw.BAD_TRAILER),
            "RFC 9112 s7.1.2",
            ONCE,
        ),
        (
            "close-delimited",
            "a whole HTTP/1.0 200 without a length, then FIN",
            "B3",
            Answer(side=Side.AFTER, framing=Framing.CLOSE, ending=Ending.FIN),
            "RFC 9112 s6.3: a body without a length ends with its connection",
            ONCE,
        ),
    ]


def _flawed(flaw: Flaw, ending: Ending | None) -> Answer:
    return Answer(side=Side.AFTER, flaw=flaw, ending=ending)


def _closes() -> list[_Row]:
    return [
        ("whole-fin", "a whole 200, then FIN unannounced", "Z3", _ended(Ending.FIN), _RFC_PERSISTENCE, ONCE),
        ("whole-reset", "a whole 200, then RST", "Z2", _ended(Ending.RESET), _RFC_PERSISTENCE, ONCE),
        (
            "keep-alive-broken",
            "a whole 200 that announces keep-alive, then FIN",
            "Z3",
            Answer(side=Side.AFTER, says=Persistence.KEEP_ALIVE, ending=Ending.FIN),
            _RFC_PERSISTENCE,
            FOLLOWED_TOO,
        ),
        (
            "close-broken",
            "a whole 200 that announces the close of its connection, which stays open",
            "Z3",
            Answer(side=Side.AFTER, says=Persistence.CLOSE),
            _RFC_PERSISTENCE,
            FOLLOWED_TOO,
        ),
    ]


def _behind() -> list[_Row]:
    return [
        ("glued-reply", "a whole 200, and another in the same segment", "Z5", _glued(), _RFC_SURPLUS, FOLLOWED_ONLY),
        (
            "late-glued-reply",
            "a whole 200, and a little later another",
            "Z5",
            Answer(side=Side.AFTER, surplus=Surplus.REPLY, surplus_after=0.05),
            _RFC_SURPLUS,
            FOLLOWED_ONLY,
        ),
        *(
            (
                f"{status}-stray-bytes",
                f"a {status} without content, and ten bytes behind it",
                "Z5",
                Answer(side=Side.AFTER, status=status, content=Content.EMPTY, surplus=Surplus.STRAY),
                _RFC_SURPLUS,
                FOLLOWED_ONLY,
            )
            for status in (204, 205)
        ),
    ]


def _ended(ending: Ending) -> Answer:
    return Answer(side=Side.AFTER, ending=ending)


def _glued() -> Answer:
    return Answer(side=Side.AFTER, surplus=Surplus.REPLY)
