"""When toxics begin and end: what makes "set and removed at an exact point" possible, and what would hang."""

import select
import socket
from contextlib import suppress

import pytest

from faults.toxics import Direction, Down, Latency, ResetPeer, SlowClose, Timeout
from tests.real_toxiproxy import (
    EOF,
    LONG_MS,
    RESET,
    RealToxiproxy,
    Wire,
    pump_until_blocked,
    read_end,
    read_now,
    receive,
)

pytestmark = pytest.mark.toxiproxy


def test_lay_is_in_force_for_open_connections_when_it_returns(real: RealToxiproxy) -> None:
    """Bytes that are sent afterwards meet it, each time."""
    for _ in range(20):
        wire = real.open_wire()
        laid = wire.lay(Timeout(timeout_ms=0))
        wire.far.sendall(b"dropped")
        real.lift(laid)
        assert read_end(wire.near) == (b"", EOF)


def test_lift_is_done_when_it_returns(real: RealToxiproxy) -> None:
    """Bytes that are sent afterwards pass; a held end has been passed on."""
    wire = real.open_wire()
    real.lift(wire.lay(Latency(latency_ms=LONG_MS)))
    wire.far.sendall(b"reply")
    assert receive(wire.near, 5) == b"reply"
    laid = wire.lay(SlowClose(delay_ms=LONG_MS))
    wire.far.close()
    real.lift(laid)
    assert read_end(wire.near) == (b"", EOF)


def test_nothing_passes_any_more_when_down_returns(real: RealToxiproxy) -> None:
    """A new dial is refused, and both sides of every connection read EOF: one of them may do so a moment later."""
    for _ in range(20):
        proxy = real.proxy()
        wires = [Wire(real, proxy).pass_a_byte() for _ in range(2)]
        real.lay(proxy, Down())
        with pytest.raises(ConnectionRefusedError):
            real.dial(proxy)
        for wire in wires:
            assert EOF in (read_now(wire.near), read_now(wire.far))
            with suppress(BrokenPipeError, ConnectionResetError):
                wire.far.sendall(b"late")
            assert read_end(wire.near) == (b"", EOF)


def test_down_under_linger_resets_everything(real: RealToxiproxy) -> None:
    """An RST at an exact point, without a byte."""
    wire = real.open_wire(ResetPeer(toxicity=0))
    wire.lay(Down())
    assert (read_end(wire.near), read_end(wire.far)) == ((b"", RESET), (b"", RESET))


def test_a_proxy_that_was_down_listens_at_the_same_port(real: RealToxiproxy) -> None:
    """Which is reserved for it meanwhile; its toxics still lie over it."""
    proxy = real.proxy(Timeout(timeout_ms=0))
    real.lift(real.lay(proxy, Down()))
    wire = Wire(real, proxy)
    wire.far.sendall(b"dropped")
    real.run(real.server.client.heal(proxy))
    assert read_end(wire.near) == (b"", EOF)
    healed = Wire(real, proxy)
    healed.far.sendall(b"reply")
    assert receive(healed.near, 5) == b"reply"


def test_lay_waits_while_a_connection_of_that_proxy_is_blocked(real: RealToxiproxy) -> None:
    """Where nobody reads, a toxic is not laid until somebody does; another proxy does not care."""
    wire, other = real.open_wire(), real.open_wire()
    pump_until_blocked(wire.near)
    pending = real.start(real.server.client.lay(wire.proxy, Latency(latency_ms=0, direction=Direction.UPSTREAM)))
    other.lay(Latency(latency_ms=0, direction=Direction.UPSTREAM))
    other.near.sendall(b"request")
    assert receive(other.far, 7) == b"request"
    assert not pending.done()
    while not pending.done():
        if select.select([wire.far], [], [], 0.05)[0]:
            wire.far.recv(1 << 20)
    assert pending.result().name == "latency_upstream"


def test_down_waits_for_a_dial_that_is_not_answered(real: RealToxiproxy) -> None:
    """An upstream that drops the SYN holds it up: new dials are refused, and open connections stay."""
    queue = real.keep(socket.socket())
    queue.bind(("127.0.0.1", 0))
    queue.listen(0)
    real.keep(socket.create_connection(queue.getsockname()))  # the queue is full
    proxy = real.proxy(upstream=queue.getsockname())
    near = real.dial(proxy)
    pending = real.start(real.server.client.disable(proxy))
    while not _refuses(real, proxy.listen):
        pass
    assert not pending.done()
    assert read_now(near) is None
    queue.close()  # the next SYN, a second after the first, is refused
    pending.result()
    assert read_end(near) == (b"", EOF)


def _refuses(real: RealToxiproxy, address: tuple[str, int]) -> bool:
    try:
        real.keep(socket.create_connection(address))
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it lay in the queue of the listener that was just closed
        return False
    return False
