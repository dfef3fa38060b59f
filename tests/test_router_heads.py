"""What was read before is read as it was then: a head that is known gives the events that it gave when it was not."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_router import heads
from fake_router.wire import Event, Request, RequestParser
from tests.test_router_wire import ALL, CHUNKED, EXPECTING, OLD, POST, UPGRADE

GET = b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
CLOSING = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    heads._known.clear()
    yield
    heads._known.clear()


def _events(*pieces: bytes, known: bool = True) -> list[Event]:
    """Of one connection; known: with what was remembered before, and else with nothing."""
    parser = RequestParser()
    events: list[Event] = []
    for piece in pieces:
        if not known:
            heads._known.clear()
        events += parser.feed(piece)
    return events


@pytest.mark.parametrize("data", [*ALL, GET, CLOSING])
def test_every_split_gives_the_same_events_when_all_heads_are_known(data: bytes) -> None:
    """Also behind other requests on the same connection, and before them."""
    once = _events(data, known=False)
    for before in (POST, GET):
        _events(before, data)
        for at in range(len(data) + 1):
            assert _events(before, data[:at], data[at:], POST) == [
                *_events(before), *_events(data[:at], data[at:], POST, known=False)
            ], at  # fmt: skip
        assert _events(data) == once


@given(st.lists(st.sampled_from([*ALL, GET, CLOSING]), max_size=4), st.lists(st.integers(0, 400), max_size=6))
def test_any_requests_cut_anywhere_give_the_same_events_known_or_not(requests: list[bytes], cuts: list[int]) -> None:
    data = b"".join(requests)
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[a:b] for a, b in pairwise(places)]
    for request in requests:
        _events(request)
    assert _events(*pieces) == _events(*pieces, known=False)


def test_a_body_of_another_length_has_another_head_and_its_own_bytes() -> None:
    other = POST.replace(b"13\r\n\r\n", b"15\r\n\r\n").replace(b"[]", b"[17]")
    for data in (POST, other, POST, other):
        (request,) = _events(data)
        assert isinstance(request, Request)
        assert request.body == data.partition(b"\r\n\r\n")[2]
    assert len(heads._known) == 2


@pytest.mark.parametrize("data", [CHUNKED, EXPECTING, OLD, UPGRADE, CLOSING, POST + GET, b"\r\n\r\n" + GET, POST[:-1]])
def test_only_the_head_of_one_whole_request_that_keeps_its_connection_is_known(data: bytes) -> None:
    _events(data)
    assert heads._known == {}


def test_a_head_is_known_to_every_connection_and_a_great_many_are_not_kept() -> None:
    _events(POST)
    assert len(heads._known) == 1
    _events(GET[:-2] + b"X: " + b"a" * heads.MAX_BYTES + b"\r\n\r\n")
    assert len(heads._known) == 1
    for number in range(heads.MAX_HEADS + 3):
        _events(GET.replace(b"/health", b"/%d" % number))
        assert len(heads._known) <= heads.MAX_HEADS
