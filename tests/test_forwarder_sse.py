"""Server-sent events: bytes to events and back, in whatever pieces they come."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwarder.sse import OverlongEventError, SseEvent, SseParser

STREAM = b": ping\n\ndata: {}\r\revent: x\r\ndata: a\rdata:b\r\n\r\nid: 1\n\rdata\r\n\ndatas: 1\r\n\rdata: [DONE]\n\r"
DATA = [None, b"{}", b"a\nb", None, b"", None, b"[DONE]"]
LINE_ENDS = [b"\n", b"\r\n", b"\r"]
NO_LINE_ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # where str.splitlines splits as well


def _events(pieces: list[bytes], limit: int = 1_000) -> tuple[list[SseEvent], bytes]:
    parser = SseParser(limit)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return [*events, *parser.end()], parser.unfinished


def test_data_lines_are_joined_and_all_else_is_no_data() -> None:
    """Comments, other fields, a field without a value, and all kinds of line ends after one another."""
    events, rest = _events([STREAM])
    assert [event.data for event in events] == DATA
    assert rest == b""


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_any_split_of_the_same_bytes_gives_the_same_events(cuts: list[int]) -> None:
    """And together they are the bytes that came."""
    at = [0, *sorted(cuts), len(STREAM)]
    events, rest = _events([STREAM[a:b] for a, b in pairwise(at)])
    assert (events, rest) == _events([STREAM])
    assert b"".join(event.raw for event in events) == STREAM


def test_one_byte_after_the_other_is_a_split_too() -> None:
    """No line end is lost between two bytes."""
    assert _events([STREAM[at : at + 1] for at in range(len(STREAM))]) == _events([STREAM])


@pytest.mark.parametrize("end", LINE_ENDS)
def test_a_line_ends_with_crlf_or_lf_or_cr_and_nothing_else(end: bytes) -> None:
    """WHATWG HTML s9.2.5; a BOM at the beginning is no part of the stream, and later it is."""
    odd = NO_LINE_ENDS.encode()
    stream = b"\xef\xbb\xbfdata: 1\ndata:2\n\ndata: " + odd + b"\n\n\xef\xbb\xbfdata: 3\n\n"
    events, rest = _events([stream.replace(b"\n", end)])
    assert [event.data for event in events] == [b"1\n2", odd, None]
    assert rest == b""


@pytest.mark.parametrize("before", LINE_ENDS)
@pytest.mark.parametrize(("then", "belongs"), [(b"\n", b"\n"), (b"d", b""), (b"\r", b"")])
def test_the_lf_of_a_split_crlf_belongs_to_the_event_before_it(before: bytes, then: bytes, belongs: bytes) -> None:
    """Until the next byte has come nobody knows whether there is one."""
    parser = SseParser(1_000)
    first = b"data: 1" + before + b"\r"
    assert parser.feed(first) == []
    (event,) = parser.feed(then)
    assert (event.raw, event.data) == (first + belongs, b"1")


def test_what_has_no_blank_line_is_unfinished() -> None:
    """Half an event is none (WHATWG HTML s9.2.6)."""
    events, rest = _events([b"data: 1\n\ndata: 2\n"])
    assert [event.data for event in events] == [b"1"]
    assert rest == b"data: 2\n"


@pytest.mark.parametrize("pieces", [[b"data: 12345\n\n"], [b"data: ", b"12345"], [b"data: 1\n\n", b":" * 11]])
def test_an_event_beyond_the_limit_is_refused_before_its_end(pieces: list[bytes]) -> None:
    """No more than one event of the limit is ever kept."""
    with pytest.raises(OverlongEventError, match="more than 10 bytes"):
        _events(pieces, limit=10)


def test_the_limit_is_on_an_event_and_not_on_a_stream() -> None:
    """Any number of events that fit may follow one another, in one piece too."""
    events, _ = _events([b"data: 1\n\n" * 1_000], limit=10)
    assert len(events) == 1_000
