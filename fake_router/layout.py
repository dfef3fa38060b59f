"""How the bytes of one reply lie on the wire: its head, its framed body, and the points between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import assert_never

from fake_router.forms import SOME, STREAM_TYPE
from fake_router.reply_heads import CHUNKED, CLOSE, chunk, head_of
from faults.answer import ABOUT_LENGTH, VERSION_BYTES, Answer, Cut
from faults.vocabulary import Coding, Flaw, Framing, Persistence, Point

MOVED = "/v1/moved"  # where every redirect points: to another path of the same router
LONG_HEADER_BYTES = 70_000  # above the limits of http.client (64 KiB), nginx, httptools and aiohttp
TOO_LONG = 10  # by how many bytes a length says too much
LAST_LINE = b"0\r\n"
BAD_SIZE = b"zz\r\n"
TRAILER = ("X-Checksum", "5")

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The bytes of the whole message, without padding, and where in them each point lies."""

    data: bytes
    points: dict[Point, int]
    events: tuple[int, ...] = ()  # where the first event of a stream begins, and where each one ends

    def place_of(self, cut: Cut) -> int:
        """How many bytes lie before it."""
        return cut if isinstance(cut, int) else self.points[cut]


def layout_of(
    act: Answer, content_type: str, content: bytes, *, padding: int = 0, close: bool = False, streamed: bool = False
) -> Layout:
    """The message that the act sends, whole; `content` is in its coding, and `padding` bytes will follow it. What is
    streamed has no length, unless that is what its act is about.
    """
    if streamed and act.flaw not in ABOUT_LENGTH and not padding:
        act = _unmeasured(act)
    start = _head(act, content_type, len(content) + padding, close=close)
    line = start.index(b"\n") + 1
    first, half, rest, last = _body(act, content)
    points = {
        Point.STATUS_LINE: VERSION_BYTES,
        Point.HEADERS: (line + len(start)) // 2,
        Point.HEAD: len(start),
        Point.HALF: len(start) + half,
        Point.LAST_CHUNK: len(start) + len(first) + len(rest),
        Point.IN_LAST_CHUNK: len(start) + len(first) + len(rest) + len(LAST_LINE),
    }
    return Layout(data=start + first + rest + last, points=points)


def in_events(act: Answer) -> bool:
    """A stream that it sends has each event in a chunk of its own, or bare; else its content is one as any other."""
    return act.flaw is None and act.coding is None and act.framing is not Framing.TRAILERS


def stream_layout_of(act: Answer, events: Sequence[bytes], *, close: bool = False) -> Layout:
    """The same of a stream, event by event."""
    act = _unmeasured(act)
    start = _head(act, STREAM_TYPE, 0, close=close)
    chunked = act.framing is Framing.CHUNKED
    pieces = [chunk(event) for event in events] if chunked else list(events)
    places = tuple(accumulate(map(len, pieces), initial=len(start)))
    some, following = (places[min(number, len(pieces))] for number in (SOME, SOME + 1))
    points = {
        Point.STATUS_LINE: VERSION_BYTES,
        Point.HEADERS: (start.index(b"\n") + 1 + len(start)) // 2,
        Point.HEAD: len(start),
        Point.EVENT: some,
        Point.IN_EVENT: (some + following) // 2,
        Point.HALF: (len(start) + places[-1]) // 2,
        Point.DONE: places[max(len(pieces) - 1, 0)],
        Point.LAST_CHUNK: places[-1],
        Point.IN_LAST_CHUNK: places[-1] + len(LAST_LINE),
    }
    end = LAST_LINE + b"\r\n" if chunked else b""
    return Layout(data=b"".join((start, *pieces, end)), points=points, events=places)


@cache
def _unmeasured(act: Answer) -> Answer:
    """What would have a length is chunked: nobody knows it when a stream begins."""
    return replace(act, framing=Framing.CHUNKED) if act.framing is Framing.LENGTH else act


def _body(act: Answer, content: bytes) -> tuple[bytes, int, bytes, bytes]:
    """The first half and how long it is, the second half, and what ends the body; all of it framed."""
    half = len(content) // 2
    first, rest = content[:half], content[half:]
    if act.framing in (Framing.LENGTH, Framing.CLOSE):
        return first, half, rest, b""
    first, rest = chunk(first), chunk(rest)
    if act.flaw is Flaw.CHUNK_SIZE:
        rest = BAD_SIZE + rest
    trailer = b""
    if act.framing is Framing.TRAILERS:
        trailer = f"{TRAILER[0]}: {TRAILER[1]}\r\n".encode()
    elif act.flaw is Flaw.BAD_TRAILER:
        trailer = b"no colon in this line\r\n"
    return first, len(first), rest, LAST_LINE + trailer + b"\r\n"


def _head(act: Answer, content_type: str, length: int, *, close: bool) -> bytes:
    fields: Fields = () if act.status == 204 else (("Content-Type", content_type), *_framing(act, length))
    if act.coding is not None:
        fields += (("Content-Encoding", Coding.GZIP.value),)
    if 300 <= act.status < 400:
        fields += (("Location", MOVED),)
    if act.retry_after_s is not None:
        fields += (("Retry-After", str(act.retry_after_s)),)
    fields += _persistence(act, close=close)
    version = "1.0" if act.framing is Framing.CLOSE else "1.1"
    return head_of(act.status, _odd(act.flaw) + fields, version=version, line_end=_line_end(act.flaw))


def _line_end(flaw: Flaw | None) -> str:
    return "\n" if flaw is Flaw.BARE_LF else "\r\n"


def _framing(act: Answer, length: int) -> Fields:
    said = ("Content-Length", str(length))
    match act.flaw:
        case Flaw.LENGTH_LONG:
            return (("Content-Length", str(length + TOO_LONG)),)
        case Flaw.LENGTH_SHORT:
            return (("Content-Length", str(length // 2)),)
        case Flaw.LENGTH_TWICE:
            return said, said
        case Flaw.LENGTHS_DIFFER:
            return said, ("Content-Length", str(length + TOO_LONG))
        case Flaw.BOTH_FRAMINGS:
            return CHUNKED, said
        case _:
            pass
    match act.framing:
        case Framing.LENGTH:
            return (said,)
        case Framing.CHUNKED:
            return (CHUNKED,)
        case Framing.TRAILERS:
            return CHUNKED, ("Trailer", TRAILER[0])
        case Framing.CLOSE:
            return ()
        case _:
            assert_never(act.framing)


def _odd(flaw: Flaw | None) -> Fields:
    """A field that is written in an odd way."""
    match flaw:
        case Flaw.OBS_FOLD:
            return (("X-Note", "one line\r\n  and another"),)
        case Flaw.LONG_HEADER:
            return (("X-Note", "n" * LONG_HEADER_BYTES),)
        case Flaw.NUL_IN_HEADER:
            return (("X-Note", "before\0after"),)
        case Flaw.BAD_HEADER_NAME:
            return (("X Note", "a name with a space in it"),)
        case _:
            return ()


def _persistence(act: Answer, *, close: bool) -> Fields:
    """What a router announces is what it will do, unless the act says otherwise; a reply that does not become whole
    ends, or stalls, without a word.
    """
    match act.says:
        case Persistence.CLOSE:
            return (CLOSE,)
        case Persistence.KEEP_ALIVE:
            return (("Connection", "keep-alive"),)
        case Persistence.UNSAID:
            return (CLOSE,) if close and not act.incomplete else ()
        case _:
            assert_never(act.says)
