"""Random bytes into a real socket: whatever came, the router stands, and the next request is served."""

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.vocabulary import Sight
from tests.router_client import Client, Stage, dial, staged, work

PIECES = [work(9), b"GET ", b"POST / HTTP/1.1\r\n", b"\r\n", b"0\r\n\r\n"]


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([work(9), b"GET ", b"\r\n", b"0\r\n\r\n"])), max_size=5)
)
def test_no_bytes_take_the_router_down(shared: Stage, pieces: list[bytes]) -> None:
    """Whatever came before on another connection, the next request is served."""
    with Client(shared.port) as client, contextlib.suppress(ConnectionError):
        for piece in pieces:
            client.send(piece)
    assert dial(shared.port, work(10)).sight is Sight.WHOLE
