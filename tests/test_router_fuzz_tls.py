"""Hostile peers of a router that speaks TLS: in plain text, inside a session, and gone behind their own bytes."""

import logging
import random
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.honest import wrong_with
from benchmarks.hostile import Hostile, Then, hostile
from faults.vocabulary import Sight
from tests.router_client import HOST, LONG_MS, Stage, dial, staged, work
from tests.tls_client import AlertError, TlsSocket, TruncationError, trusting

FIRST = 1000


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with staged(tls=True) as stage:
        yield stage


@pytest.fixture(autouse=True)
def no_callback_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The loop logs what a callback raises, and goes on: that would be a crash that nobody sees."""
    yield
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def in_session(port: int, given_: Hostile) -> bytes:
    """Be that peer after a handshake; all that it got."""
    got = b""
    with socket.create_connection((HOST, port), timeout=LONG_MS / 1000) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = TlsSocket(raw, trusting())
        try:
            for part in given_.parts:
                peer.sendall(part)
            if given_.then is Then.RESET:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return got
            if given_.then is not Then.READ:
                raw.shutdown(socket.SHUT_WR)
            while data := peer.recv(65_536):
                got += data
        except TimeoutError:
            raise  # it was left hanging
        except (OSError, TruncationError, AlertError):
            pass  # the router has ended it
    return got


@settings(max_examples=150, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_a_hostile_peer_inside_a_session_gets_an_honest_answer(shared: Stage, rng: random.Random) -> None:
    """The same as without TLS, and the next request is served."""
    given_ = hostile(rng, FIRST)
    assert wrong_with(given_, in_session(shared.port, given_)) == ""
    assert dial(shared.port, work(10), tls=trusting()).sight is Sight.WHOLE


@settings(max_examples=150, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_plain_text_and_noise_instead_of_a_handshake_harm_nobody(shared: Stage, rng: random.Random) -> None:
    """Whatever comes instead of a ClientHello, also behind the beginning of one."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[: rng.randrange(12)]
    with socket.create_connection((HOST, shared.port), timeout=LONG_MS / 1000) as sock:
        sock.sendall(hello + b"".join(hostile(rng, FIRST).parts)[:60_000])
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", rng.randrange(2), 0))
    assert dial(shared.port, work(10), tls=trusting()).sight is Sight.WHOLE


@pytest.mark.parametrize("plaintext", [b"P", work(FIRST)[:-1], work(FIRST)], ids=["one", "all-but-one", "whole"])
def test_a_peer_that_resets_behind_unread_bytes_leaves_no_socket(plaintext: bytes) -> None:
    """libuv tells of such a socket only once."""
    with staged(tls=True) as stage:
        with socket.create_connection((HOST, stage.port)) as raw:
            peer = TlsSocket(raw, trusting())
            stage.entries()

            def leave() -> None:
                """On the router's own thread, which cannot look before all of it has happened."""
                peer.sendall(plaintext)
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raw.close()

            stage.thread.run(leave)
        stage.until_unconnected()


def test_all_hostile_peers_have_left_no_socket(shared: Stage) -> None:
    """Whatever they sent, and however they went."""
    shared.until_unconnected()
