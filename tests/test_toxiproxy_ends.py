"""What Toxiproxy does to the beginning and the end of a connection by itself, without a toxic."""

import socket

import pytest

from tests.real_toxiproxy import EOF, RESET, RealToxiproxy, Wire, read_end, receive, reset

pytestmark = pytest.mark.toxiproxy


@pytest.fixture
def refusing(real: RealToxiproxy) -> tuple[str, int]:
    """An address that refuses: bound, and nobody listens."""
    bound = real.keep(socket.socket())
    bound.bind(("127.0.0.1", 0))
    address: tuple[str, int] = bound.getsockname()
    return address


def test_refused_upstream_is_accepted_then_closed(real: RealToxiproxy, refusing: tuple[str, int]) -> None:
    """Toxiproxy accepts before it dials: a caller that has sent nothing reads EOF."""
    near = real.dial(real.proxy(upstream=refusing))
    assert read_end(near) == (b"", EOF)


def test_refused_upstream_resets_who_has_written(real: RealToxiproxy, refusing: tuple[str, int]) -> None:
    """Bytes that lie unread when Toxiproxy closes make it an RST; whether they lay there is a race."""
    near = real.dial(real.proxy(upstream=refusing))
    try:
        near.sendall(b"request")
    except (BrokenPipeError, ConnectionResetError):
        return  # it was closed before
    assert read_end(near) in ((b"", RESET), (b"", EOF))


def test_our_rst_becomes_eof_downstream(real: RealToxiproxy) -> None:
    """The caller of a router that resets reads EOF."""
    wire = real.wire()
    wire.near.sendall(b"request")
    receive(wire.far, 7)
    reset(wire.far)
    assert read_end(wire.near) == (b"", EOF)


def test_our_rst_becomes_eof_upstream(real: RealToxiproxy) -> None:
    """The router of a caller that resets reads EOF."""
    wire = real.wire()
    reset(wire.near)
    assert read_end(wire.far) == (b"", EOF)


def test_a_close_over_unread_bytes_becomes_eof(real: RealToxiproxy) -> None:
    """Which is an RST of the kernel without Toxiproxy."""
    wire = real.wire()
    wire.near.sendall(b"request")
    wire.far.recv(1)
    wire.far.close()
    assert read_end(wire.near) == (b"", EOF)


def test_a_half_close_closes_both_ways(real: RealToxiproxy) -> None:
    """Toxiproxy knows no half-closed connection: the reply to a caller that sends FIN is lost."""
    wire = real.wire()
    wire.near.shutdown(socket.SHUT_WR)
    assert read_end(wire.far) == (b"", EOF)
    assert read_end(wire.near) == (b"", EOF)


def test_a_reply_before_an_end_arrives_whole(real: RealToxiproxy) -> None:
    """FIN and RST alike end the connection behind the bytes before them, once a request has come through."""
    proxy = real.proxy()
    for end in (socket.socket.close, reset):
        wire = Wire(real, proxy)
        wire.near.sendall(b"request")
        receive(wire.far, 7)
        wire.far.sendall(bytes(5_000))
        end(wire.far)
        assert read_end(wire.near) == (bytes(5_000), EOF)


def test_a_reset_at_accept_may_be_a_dial_that_failed(real: RealToxiproxy) -> None:
    """An RST that comes before Toxiproxy has noticed that it is connected: what lies before it is lost."""
    wire = real.wire()
    wire.far.sendall(b"reply")
    reset(wire.far)
    assert read_end(wire.near) in ((b"reply", EOF), (b"", EOF))
