"""What a packet witness sees of requests that never reach the router: whose they are, and which are probes."""

import json
import socket
import struct
from collections.abc import Iterator

import pytest

from fake_router.entries import Sighted
from fake_router.kernel import can_watch_packets
from fake_router.packet_socket import PacketsLostError
from fake_router.server import Router
from fake_router.sighting import LOOKED_AT_BYTES, RequestWitness
from faults.catalogue import POISONS
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Moment, Poison
from suites.workload import completion_request

pytestmark = pytest.mark.skipif(not can_watch_packets(), reason="packets are seen with CAP_NET_RAW only")
LOSES = next(
    id_
    for id_, fault in POISONS.items()
    if isinstance(fault.act, Poison) and fault.act.strikes_requests and fault.act.at is Moment.CONNECT
)
PLAN = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=LOSES),))
PROBE = b"GET /health HTTP/1.1\r\nHost: h\r\nX-Padding: %b\r\n\r\n" % (b"x" * 2_000)


def request(operation: int, *, body_bytes: int = 0) -> bytes:
    """A whole one that carries it."""
    body = json.dumps(completion_request(operation, body_bytes=body_bytes)).encode()
    return b"POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


class Way:
    """A port at which Toxiproxy could listen."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.open: list[socket.socket] = [self.listener]

    def dial(self) -> tuple[socket.socket, socket.socket]:
        """Both ends of a new connection."""
        near = socket.create_connection(("127.0.0.1", self.port))
        far, _ = self.listener.accept()
        self.open += [near, far]
        return near, far

    def send(self, *pieces: bytes) -> None:
        """On a new connection; each piece has arrived before the next is sent."""
        near, far = self.dial()
        for piece in pieces:
            pass_on(near, far, piece)


def pass_on(near: socket.socket, far: socket.socket, data: bytes) -> None:
    """It is sent, and has arrived."""
    near.sendall(data)
    left = len(data)
    while left:
        left -= len(far.recv(left))


@pytest.fixture
def way() -> Iterator[Way]:
    """Its sockets are closed afterwards."""
    made = Way()
    yield made
    for one in made.open:
        one.close()


async def sighted(way: Way, *sendings: tuple[bytes, ...]) -> list[tuple[int | None, bool]]:
    """Operation, and whether it is a probe, of what a router whose way leads there has recorded."""
    async with Router() as router:
        router.between.reached_through([way.port])
        router.arm(PLAN, first_operation=7, read_timeout_ms=300)
        for pieces in sendings:
            way.send(*pieces)
        router.drain()
        router.heal()
        return [(one.operation, one.probe) for one in router.ledger.since(0) if isinstance(one, Sighted)]


WHOLE = request(7)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((WHOLE,), (7, False)),
        ((WHOLE[:9], WHOLE[9:200], WHOLE[200:]), (7, False)),
        ((request(7, body_bytes=90_000),), (7, False)),
        ((request(7, body_bytes=2 * LOOKED_AT_BYTES),), (None, False)),
        ((PROBE,), (None, True)),
        ((PROBE[:40],), (None, True)),
        ((WHOLE[:200],), (None, False)),
        ((WHOLE[:9],), (None, False)),
        ((b"\x16\x03\x01 no request",), (None, False)),
    ],
    ids=["whole", "pieces", "large", "too-large", "probe", "begun-probe", "begun", "inside-its-line", "no-request"],
)
async def test_a_request_is_told_from_a_probe_by_what_was_sent(
    way: Way, pieces: tuple[bytes, ...], expected: tuple[int | None, bool]
) -> None:
    """Whatever their sizes are; whose it is only where all of it was seen."""
    assert await sighted(way, pieces) == [expected]


async def test_each_connection_is_seen_by_itself(way: Way) -> None:
    """In the order in which they were made; one that brings nothing is no entry."""
    found = await sighted(way, (PROBE,), (), (request(8),), (WHOLE,))
    assert found == [(None, True), (8, False), (7, False)]


async def test_what_was_sent_before_it_was_armed_is_not_seen(way: Way) -> None:
    """On a connection that lies idle the next request begins what is seen."""
    near, far = way.dial()
    pass_on(near, far, PROBE)
    async with Router() as router:
        router.between.reached_through([way.port])
        router.arm(PLAN, first_operation=7, read_timeout_ms=300)
        pass_on(near, far, WHOLE)
        router.drain()
        (seen,) = (one for one in router.ledger.since(0) if isinstance(one, Sighted))
    assert (seen.operation, seen.request_bytes, seen.peer_port) == (7, len(WHOLE), near.getsockname()[1])


async def test_a_witness_that_lost_packets_says_nothing(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what it saw before, nor what it sees afterwards."""
    real = RequestWitness.read

    def read(self: RequestWitness) -> None:
        real(self)
        raise PacketsLostError("1 packet was lost")

    monkeypatch.setattr(RequestWitness, "read", read)
    assert await sighted(way, (WHOLE,), (PROBE,)) == []


def packet(sequence: int, data: bytes = b"", *, flags: int = 0x10, source: int = 9) -> bytes:
    """An IPv4 packet with a TCP segment (RFC 9293 s3.1), as far as it is looked at."""
    ip = b"\x45\0" + (40 + len(data)).to_bytes(2, "big") + bytes(16)
    return ip + struct.pack("!HHIIBBHHH", source, 80, sequence, 0, 0x50, flags, 0, 0, 0) + data


@pytest.mark.parametrize("first", [1, 2**32 - 3], ids=["usual", "numbers-begin-again"])
def test_what_the_kernel_sends_again_is_seen_once(way: Way, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, in part, as a keep-alive, or with what comes next."""
    at = [(first + offset) % 2**32 for offset in range(20)]
    came = [
        packet(at[0], flags=0x02),
        packet(at[0], flags=0x02),
        packet(at[1], b"POST "),
        packet(at[1], b"POST "),
        packet(at[3], b"ST /m"),
        packet(at[7], b"m"),
        packet(at[8], b""),
        packet(at[8], b"oved"),
    ]
    monkeypatch.setattr(RequestWitness, "packets", lambda self: iter(came))
    with RequestWitness(way.port) as witness:
        witness.read()
        assert witness.sent == {9: b"POST /moved"}
