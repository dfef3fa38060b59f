"""A peer that sends and resets before the router has read a byte: libuv tells of such a socket only once."""

import socket
import struct
from collections.abc import Iterator

import pytest

from fake_router.entries import Closed, EndedBy, Received, Striking, Unserved
from tests.router_client import HOST, Stage, dial, faulty, one, staged, work

OPERATION = 7


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def send_and_reset(stage: Stage, data: bytes) -> None:
    """On the router's own thread: it cannot look before all of it has happened."""

    def peer() -> None:
        with socket.create_connection((HOST, stage.port)) as sock:
            sock.sendall(data)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    stage.thread.run(peer)


@pytest.mark.parametrize(
    "data", [b"", b"\r\n", b"P", work(OPERATION)[:-1]], ids=["none", "blank", "one", "all-but-one"]
)
def test_a_request_that_never_ends_leaves_no_socket(stage: Stage, data: bytes) -> None:
    """It was sent, and could not be read to its end."""
    send_and_reset(stage, data)
    stage.until_unconnected()
    assert [entry.by for entry in stage.of(Closed)] == [EndedBy.PEER]
    assert len(stage.of(Unserved)) == (1 if data.strip() else 0)


def test_an_exchange_that_waits_ends_with_its_peer(stage: Stage) -> None:
    """The request is whole, and nobody is there any more to stay silent to."""
    stage.arm(one("silence-before"), first=OPERATION)
    send_and_reset(stage, work(OPERATION))
    assert stage.idle()
    assert len(stage.of(Received)) == 1
    stage.until_unconnected()


def test_bytes_that_a_listener_leaves_unread_are_struck(stage: Stage) -> None:
    """A part of a request, of which no more will come."""
    stage.arm(faulty("unread-reset"), first=OPERATION)
    send_and_reset(stage, work(OPERATION)[:50])
    (lost,) = stage.until(Unserved, 1)
    assert lost.request_bytes == 50
    assert len(stage.of(Striking)) == 1
    stage.heal()
    assert dial(stage.port, work(OPERATION + 1)).status == 200


def test_what_a_peer_sends_behind_an_early_end_and_resets_leaves_no_socket(stage: Stage) -> None:
    """The rest of a large request lies there, more than one read takes, and then the reset."""
    stage.arm(faulty("part-head-fin"), first=OPERATION)
    with socket.create_connection((HOST, stage.port)) as sock:
        head_first = work(OPERATION, padding="x" * 1_000_000)
        sock.sendall(head_first[:40_000])
        stage.until(Closed, 1)

        def rest() -> None:
            sock.sendall(head_first[40_000:500_000])
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()

        stage.thread.run(rest)
    stage.until_unconnected()
