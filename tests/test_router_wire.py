"""The parser: any split of the same bytes gives the same events, and no bytes make it raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_router.reply_heads import chunk, head
from fake_router.wire import (
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    Event,
    Expecting,
    Malformed,
    Request,
    RequestParser,
)

POST = b"POST /v1/completions?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 13\r\n\r\n" + b'{"prompt":[]}'
CHUNKED = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
EXPECTING = b"POST /v1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"
OLD = b"POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\nx"
UPGRADE = (
    b"POST /up HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: A\r\n"
    b"Content-Length: 2\r\n\r\n{}"
)
PIPELINED = POST + CHUNKED + b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
GARBAGE = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
SMUGGLED = b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

ALL = [POST, CHUNKED, EXPECTING, OLD, UPGRADE + POST, PIPELINED, GARBAGE, SMUGGLED, b"\r\n" + POST]


def _events(*pieces: bytes) -> list[Event]:
    parser = RequestParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@pytest.mark.parametrize("data", ALL)
def test_every_split_into_two_gives_the_same_events(data: bytes) -> None:
    whole = _events(data)
    assert whole
    for at in range(1, len(data)):
        assert _events(data[:at], data[at:]) == whole, at


@pytest.mark.parametrize("data", ALL)
def test_one_byte_at_a_time_gives_the_same_events(data: bytes) -> None:
    assert _events(*(data[at : at + 1] for at in range(len(data)))) == _events(data)


def test_a_request_keeps_method_target_body_and_persistence() -> None:
    (request,) = _events(POST)
    assert request == Request(
        method="POST", target="/v1/completions?x=1", body=b'{"prompt":[]}', keep_alive=True, http10=False
    )


def test_chunks_are_joined() -> None:
    (request,) = _events(CHUNKED)
    assert isinstance(request, Request)
    assert request.body == b"abcde"


def test_http_1_0_ends_its_connection_and_is_known() -> None:
    (request,) = _events(OLD)
    assert isinstance(request, Request)
    assert (request.keep_alive, request.http10) == (False, True)


def test_what_follows_connection_close_is_ignored() -> None:
    """RFC 9112 s9.6: nothing after such a request is processed."""
    closing = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    assert len(_events(closing + POST)) == len(_events(closing, POST)) == 1


def test_expectation_is_told_before_the_body_comes() -> None:
    without_body = EXPECTING[:-2]
    assert _events(without_body) == [Expecting()]
    assert [type(event) for event in _events(EXPECTING)] == [Expecting, Request]


def test_an_upgrade_is_ignored_and_its_body_kept() -> None:
    """RFC 9110 s7.8: a server may answer as if there were no Upgrade; some clients offer h2c with every request."""
    first, second = _events(UPGRADE + POST)
    assert isinstance(first, Request)
    assert (first.target, first.body, first.keep_alive) == ("/up", b"{}", True)
    assert [second] == _events(POST)


@pytest.mark.parametrize("data", [GARBAGE, SMUGGLED, b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
def test_what_is_no_http_1_request_is_malformed_with_400(data: bytes) -> None:
    (event,) = _events(data)
    assert isinstance(event, Malformed)
    assert event.status == 400
    assert "HTTP/1" in event.why


def test_nothing_follows_a_malformed_request() -> None:
    parser = RequestParser()
    assert len(parser.feed(GARBAGE)) == 1
    assert parser.feed(POST) == []
    assert parser.unfinished_bytes == 0


@pytest.mark.parametrize("piece_bytes", [1_000_000, 4_096])
def test_a_head_above_the_limit_is_refused_with_431(piece_bytes: int) -> None:
    data = b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %b\r\n" % (n, b"a" * 1000) for n in range(MAX_HEAD_BYTES // 1000))
    data += b"Last: 1234567890\r\n" * 60 + b"\r\n"
    (event,) = _events(*(data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes)))
    assert isinstance(event, Malformed)
    assert event.status == 431
    assert str(MAX_HEAD_BYTES) in event.why


def test_a_head_that_never_ends_is_refused_with_431() -> None:
    parser = RequestParser()
    events: list[Event] = []
    fed = 0
    while not events:
        events = parser.feed(b"GET /" if fed == 0 else b"a" * 10_000)
        fed += 10_000
        assert fed < 4 * MAX_HEAD_BYTES
    assert isinstance(events[0], Malformed)
    assert events[0].status == 431


def test_an_announced_body_above_the_limit_is_refused_with_413_before_it_comes() -> None:
    (event,) = _events(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1))
    assert isinstance(event, Malformed)
    assert event.status == 413


def test_a_chunked_body_above_the_limit_is_refused_with_413() -> None:
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b"%x\r\n%b\r\n" % (1 << 20, bytes(1 << 20))
    events: list[Event] = []
    for _ in range(MAX_BODY_BYTES >> 20):
        assert parser.feed(piece) == []
    events = parser.feed(piece)
    assert isinstance(events[0], Malformed)
    assert events[0].status == 413


def test_unfinished_bytes_are_those_of_the_request_whose_end_has_not_come() -> None:
    parser = RequestParser()
    assert parser.unfinished_bytes == 0
    parser.feed(POST[:30])
    parser.feed(POST[30:-3])
    assert parser.unfinished_bytes == len(POST) - 3
    parser.feed(POST[-3:])
    assert parser.unfinished_bytes == 0
    parser.feed(POST + b"PO")
    assert parser.unfinished_bytes > 0


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_no_bytes_make_it_raise(pieces: list[bytes]) -> None:
    _events(*pieces)


@given(st.sampled_from(ALL), st.integers(0, 200), st.binary(max_size=20))
def test_no_damaged_request_makes_it_raise(data: bytes, at: int, damage: bytes) -> None:
    _events(data[:at] + damage + data[at + len(damage) :])


def test_a_head_is_framed_by_length_or_chunked() -> None:
    assert b"Content-Length: 7\r\n" in head(200, "text/plain", 7)
    chunked = head(503, "text/plain", None, close=True, extra=(("Retry-After", "1"),))
    assert chunked.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"Transfer-Encoding: chunked\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" in chunked


def test_a_chunk_is_never_the_last_one() -> None:
    """RFC 9112 s7.1: a chunk of size 0 ends the body."""
    assert chunk(b"") == b""
    assert chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"


def test_a_thousand_upgrades_in_one_read_are_a_thousand_requests() -> None:
    """Each is read as if there were no Upgrade, and so is what lies behind the last one."""
    upgrade = b"GET /health HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    behind = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
    events = RequestParser().feed(upgrade * 1_000 + behind)
    assert len(events) == 1_001
    assert all(isinstance(event, Request) for event in events)
    assert isinstance(events[-1], Request)
    assert events[-1].body == b"{}"
