"""What each toxic does to raw sockets on both sides; the words of the catalogue rest on these."""

import pytest

from faults.toxics import Bandwidth, Direction, Latency, LimitData, ResetPeer, Slicer, SlowClose, Timeout, Toxic
from tests.real_toxiproxy import EOF, LONG_MS, RESET, RealToxiproxy, Wire, read_end, read_now, receive, reset

pytestmark = pytest.mark.toxiproxy
UPSTREAM, DOWNSTREAM = Direction
LINGER = ResetPeer(toxicity=0)  # it does nothing, but every end of its connections becomes an RST


def strike(wire: Wire, direction: Direction) -> None:
    """Send what a toxic in that direction waits for; a request has arrived before a reply is sent."""
    wire.near.sendall(b"request")
    if direction is DOWNSTREAM:
        assert receive(wire.far, 7) == b"request"
        wire.far.sendall(b"reply")


def ends(wire: Wire) -> tuple[tuple[bytes, str], tuple[bytes, str]]:
    """What caller and router read to the end."""
    return read_end(wire.near), read_end(wire.far)


def test_latency_holds_bytes_and_loses_none(real: RealToxiproxy) -> None:
    """They come in order when it is lifted."""
    wire = real.open_wire()
    laid = wire.lay(Latency(latency_ms=LONG_MS))
    wire.far.sendall(b"re")
    wire.far.sendall(b"ply")
    assert read_now(wire.near) is None
    real.lift(laid)
    assert receive(wire.near, 5) == b"reply"


def test_latency_passes_bytes_on_by_itself(real: RealToxiproxy) -> None:
    """With jitter too."""
    wire = real.wire(Latency(latency_ms=2, jitter_ms=2))
    wire.far.sendall(b"reply")
    assert receive(wire.near, 5) == b"reply"


def test_bandwidth_passes_bytes_on_in_pieces(real: RealToxiproxy) -> None:
    """As many as its rate allows in 100 ms; the rest comes when it is lifted."""
    wire = real.open_wire()
    laid = wire.lay(Bandwidth(rate_kbytes_s=1))
    wire.far.sendall(bytes(30_000))  # for half a minute
    first = len(wire.near.recv(30_000))
    assert first in range(100, 30_000, 100)
    real.lift(laid)
    assert len(receive(wire.near, 30_000 - first)) == 30_000 - first


def test_slicer_cuts_bytes_in_pieces(real: RealToxiproxy) -> None:
    """No piece is larger than average and variation; the rest comes when it is lifted."""
    wire = real.open_wire()
    laid = wire.lay(Slicer(average_bytes=8, variation_bytes=2, delay_us=LONG_MS * 1_000))
    wire.far.sendall(bytes(100))
    first = len(wire.near.recv(100))
    assert 1 <= first <= 10
    real.lift(laid)
    assert len(receive(wire.near, 100 - first)) == 100 - first


def test_slow_close_holds_the_end_alone(real: RealToxiproxy) -> None:
    """Bytes pass; the end comes when it is lifted."""
    wire = real.open_wire()
    laid = wire.lay(SlowClose(delay_ms=LONG_MS))
    wire.far.sendall(b"reply")
    wire.far.close()
    assert receive(wire.near, 5) == b"reply"
    assert read_now(wire.near) is None
    real.lift(laid)
    assert read_end(wire.near) == (b"", EOF)


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("direction", Direction)
def test_slow_close_passes_every_end_on_as_eof(real: RealToxiproxy, direction: Direction, end: str) -> None:
    """By itself, in time."""
    wire = real.wire(SlowClose(delay_ms=1, direction=direction))
    one, other = (wire.near, wire.far) if direction is UPSTREAM else (wire.far, wire.near)
    one.sendall(b"bytes")
    receive(other, 5)
    if end == "reset":
        reset(one)
    else:
        one.close()
    assert read_end(other) == (b"", EOF)


@pytest.mark.parametrize("direction", Direction)
def test_timeout_0_drops_bytes_and_closes_when_lifted(real: RealToxiproxy, direction: Direction) -> None:
    """The connection stays open until then; what was dropped is gone."""
    wire = real.open_wire()
    laid = wire.lay(Timeout(timeout_ms=0, direction=direction))
    strike(wire, direction)
    assert (read_now(wire.near), read_now(wire.far)) == (None, None)
    real.lift(laid)
    assert ends(wire) == ((b"", EOF), (b"", EOF))


@pytest.mark.parametrize("direction", Direction)
def test_timeout_closes_both_sides_by_itself(real: RealToxiproxy, direction: Direction) -> None:
    """Upstream the request is dropped, downstream the reply; both ends read EOF."""
    wire = real.wire(Timeout(timeout_ms=30, direction=direction))
    wire.near.sendall(b"request")
    if direction is DOWNSTREAM:
        wire.far.sendall(b"reply")
    near, far = ends(wire)
    assert (near, far) == ((b"", EOF), (b"" if direction is UPSTREAM else b"request", EOF))


@pytest.mark.parametrize("direction", Direction)
def test_timeout_closes_an_idle_connection_too(real: RealToxiproxy, direction: Direction) -> None:
    """No byte need come."""
    wire = real.wire(Timeout(timeout_ms=1, direction=direction))
    assert ends(wire) == ((b"", EOF), (b"", EOF))


@pytest.mark.parametrize("timeout_ms", [0, 5])
@pytest.mark.parametrize("direction", Direction)
def test_reset_peer_resets_both_sides(real: RealToxiproxy, direction: Direction, timeout_ms: int) -> None:
    """Natural twins: upstream the router never gets the request, downstream the caller never gets the reply."""
    wire = real.wire(ResetPeer(timeout_ms=timeout_ms, direction=direction))
    strike(wire, direction)
    assert ends(wire) == ((b"", RESET), (b"", RESET))


@pytest.mark.parametrize("direction", Direction)
def test_reset_peer_laid_over_an_open_connection_ends_it_by_eof(real: RealToxiproxy, direction: Direction) -> None:
    """The same drops, and no RST: linger is set only when a connection begins."""
    wire = real.open_wire()
    wire.lay(ResetPeer(direction=direction))
    strike(wire, direction)
    assert ends(wire) == ((b"", EOF), (b"", EOF))


@pytest.mark.parametrize("direction", Direction)
def test_reset_peer_turns_a_close_into_a_reset(real: RealToxiproxy, direction: Direction) -> None:
    """It waits for the first bytes or the end in its direction; an idle connection it leaves alone."""
    wire = real.wire(ResetPeer(direction=direction))
    one, other = (wire.near, wire.far) if direction is UPSTREAM else (wire.far, wire.near)
    assert (read_now(one), read_now(other)) == (None, None)
    one.close()
    assert read_end(other) == (b"", RESET)


@pytest.mark.parametrize("direction", Direction)
def test_reset_peer_of_toxicity_0_makes_every_end_a_reset(real: RealToxiproxy, direction: Direction) -> None:
    """Bytes pass, in both directions; the router's FIN or RST and the caller's are RSTs on the other side."""
    proxy = real.proxy(ResetPeer(toxicity=0, direction=direction))
    for near_ends in (True, False):
        wire = Wire(real, proxy)
        strike(wire, DOWNSTREAM)
        assert receive(wire.near, 5) == b"reply"
        (wire.near if near_ends else wire.far).close()
        assert read_end(wire.far if near_ends else wire.near) == (b"", RESET)


@pytest.mark.parametrize("direction", Direction)
def test_reset_peer_resets_an_open_connection_that_began_under_toxicity_0(
    real: RealToxiproxy, direction: Direction
) -> None:
    """So that an RST can be set at an exact point of an exchange."""
    wire = real.open_wire(LINGER)
    wire.lay(ResetPeer(direction=direction), name="now")
    strike(wire, direction)
    assert ends(wire) == ((b"", RESET), (b"", RESET))


@pytest.mark.parametrize("limit", [0, 3, 5])
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("open_before", [False, True])
def test_limit_data_passes_so_many_bytes_and_closes(
    real: RealToxiproxy, limit: int, direction: Direction, open_before: bool
) -> None:
    """By EOF, on both sides, as soon as the last allowed byte has passed, or the first when none is."""
    toxic = LimitData(limit_bytes=limit, direction=direction)
    wire = real.open_wire() if open_before else real.wire(toxic)
    if open_before:
        wire.lay(toxic)
    one, other = (wire.near, wire.far) if direction is UPSTREAM else (wire.far, wire.near)
    assert (read_now(one), read_now(other)) == (None, None)
    one.sendall(b"bytes")
    assert read_end(other) == (b"bytes"[:limit], EOF)
    assert read_end(one) == (b"", EOF)


def test_limit_data_counts_from_when_it_was_laid(real: RealToxiproxy) -> None:
    """What an open connection has carried before does not count."""
    wire = real.open_wire()
    wire.far.sendall(b"before")
    receive(wire.near, 6)
    wire.lay(LimitData(limit_bytes=3))
    wire.far.sendall(b"a")
    wire.far.sendall(b"fter")
    assert read_end(wire.near) == (b"aft", EOF)


@pytest.mark.parametrize("order", [(LimitData(limit_bytes=3), LINGER), (LINGER, LimitData(limit_bytes=3))])
def test_limit_data_with_linger_resets_behind_the_last_byte(real: RealToxiproxy, order: tuple[Toxic, ...]) -> None:
    """A reset in the middle of a body, which the router's own RST cannot be here."""
    wire = real.wire(*order)
    wire.far.sendall(b"reply")
    assert ends(wire) == ((b"rep", RESET), (b"", RESET))
