"""Replies that the kernel does not take at once: the ledger counts exactly the bytes that it took."""

import socket
import struct
from collections.abc import Iterator

import pytest

from fake_router.entries import Received, Replied, Unserved
from fake_router.parts import PADDING_BYTES, Padding, pieces
from fake_router.replies import body_of, render
from faults.answer import Answer
from faults.contents import HUGE_BYTES
from faults.vocabulary import Content, Side
from tests.router_client import Client, Stage, one, staged, work

HUGE = Answer(side=Side.AFTER, content=Content.HUGE)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def test_a_reply_larger_than_the_socket_buffers_is_counted_to_its_last_byte(stage: Stage) -> None:
    count = 500
    with Client(stage.port) as client:
        client.send(work(1, n=128) * count)  # replies of 40 kB each: the kernel cannot take them all at once
        assert len(stage.of(Received)) < count, "the router waits for its peer to read"
        assert sum(1 for _ in client.bodies(count)) == count
    replies = stage.of(Replied)
    assert len(replies) == count
    assert all(reply.whole for reply in replies)


def test_a_peer_that_has_ended_its_side_gets_the_rest_of_a_reply_that_has_begun(stage: Stage) -> None:
    """What it had sent after that request is not served."""
    with Client(stage.port) as client:
        client.send(work(1, n=128) * 500)
        assert len(stage.of(Received)) < 500
        client.socket.shutdown(socket.SHUT_WR)
        stage.entries()
        while client.socket.recv(1 << 20):
            pass
    replies = stage.of(Replied)
    assert all(reply.whole for reply in replies)
    assert len(replies) + len(stage.of(Unserved)) == 500


def test_of_a_reply_that_the_peer_leaves_only_the_bytes_that_the_kernel_took_are_counted(stage: Stage) -> None:
    with Client(stage.port) as client:
        client.send(work(1, n=128) * 500)
        client.socket.recv(1)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert stage.idle()
    replies = stage.of(Replied)
    assert [reply.whole for reply in replies] == [True] * (len(replies) - 1) + [False]
    assert len(replies) == len(stage.of(Received)) < 500
    assert [entry.operation for entry in stage.of(Unserved)][:1] in ([], [1])
    assert stage.router.connections() == 0


def test_a_huge_reply_is_made_while_it_is_sent(stage: Stage) -> None:
    """A hundred megabytes arrive, and the router holds a completion and one piece of padding."""
    (data, padding) = render(HUGE, 7, 1, 1).parts
    assert isinstance(data, bytes)
    assert padding == Padding(count=HUGE_BYTES - len(body_of(Content.HUGE, 7, 1, 1)[1]))
    assert max(len(piece) for piece in pieces([padding]) if isinstance(piece, bytes)) == PADDING_BYTES
    stage.arm(one("huge-200"), first=7)
    with Client(stage.port) as client:
        client.send(work(7))
        assert client.take(len(data)) == data
        left = padding.count
        while left:
            more = client.socket.recv(min(left, 1 << 20))
            assert more
            assert not more.strip()
            left -= len(more)
    assert stage.idle()
    (replied,) = stage.of(Replied)
    assert (replied.bytes_sent, replied.whole) == (len(data) + padding.count, True)
