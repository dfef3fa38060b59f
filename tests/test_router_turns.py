"""A peer that sends without end gets no more than its part of each turn of the router's loop; nothing is lost of it."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from socket import MSG_PEEK, socket
from typing import Any, cast

import pytest

from fake_router.connection import Connection
from fake_router.entries import Probed, Striking, Struck, Unserved, Witness
from fake_router.identity import IDENTITY
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from fake_router.line import EVENTS_AT_ONCE, READ_BYTES, READS_AT_ONCE, REST_BYTES, Line
from fake_router.partial import PartReading
from fake_router.switchboard import Switchboard
from fake_router.tls_handshake import HandshakeConnection
from fake_router.tls_line import RECORDS_AT_ONCE, TlsLine
from fake_router.wire import Event, Request
from faults.acts import AnswerEarly, StopReading
from faults.catalogue import CATALOGUE
from faults.handshake import Spoil, SpoilHandshake
from faults.vocabulary import Content, Ending, Extent
from tests.router_client import E, request, work

OPERATION = 7
ZEROS = bytes(READ_BYTES)
GET = b"GET /health HTTP/1.1\r\n\r\n"
MANY = 1_000  # pieces, of which each could be read at once


class PumpedSocket:
    """What it holds is read piece by piece; more never comes. It counts reads."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)
        self.reads = 0

    def recv(self, limit: int, flags: int = 0) -> bytes:
        if not flags:
            self.reads += 1
        if not self.pieces:
            raise BlockingIOError
        piece = self.pieces[0][:limit]
        if flags != MSG_PEEK:
            self.pieces[0] = self.pieces[0][len(piece) :]
            if not self.pieces[0]:
                del self.pieces[0]
        return piece

    def send(self, data: bytes) -> int:
        return len(data)

    def fileno(self) -> int:
        return 3

    def shutdown(self, how: int) -> None: ...

    def setsockopt(self, *_: int) -> None: ...

    def getsockopt(self, *_: int) -> int:
        return 0

    def close(self) -> None: ...


class StoppedLoop:
    """Goes on by one turn when it is told to: what was called soon, then what is readable."""

    def __init__(self, sock: PumpedSocket) -> None:
        self._sock = sock
        self._soon: list[Callable[[], None]] = []
        self._readable: Callable[[], None] | None = None

    def call_soon(self, call: Callable[[], None]) -> None:
        self._soon.append(call)

    def add_reader(self, _: int, readable: Callable[[], None]) -> None:
        self._readable = readable

    def remove_reader(self, _: int) -> None:
        self._readable = None

    def remove_writer(self, _: int) -> None: ...

    def turn(self) -> int:
        """How many reads were made in it."""
        before = self._sock.reads
        soon, self._soon = self._soon, []
        for call in soon:
            call()
        if self._readable is not None and self._sock.pieces:
            self._readable()
        return self._sock.reads - before

    def turns(self) -> list[int]:
        """The reads of every turn until nothing lies there, or nobody reads any more."""
        made = []
        while self._sock.pieces and (self._soon or self._readable):
            made.append(self.turn())
            assert self._readable is None or made[-1], "nobody reads what lies there"
        return made


class Peer:
    """A line whose peer has sent these pieces, and the loop that it is on."""

    def __init__(self, *pieces: bytes, tls: bool = False) -> None:
        self.sock = PumpedSocket(*pieces)
        self.stopped = StoppedLoop(self.sock)
        self.loop = cast(AbstractEventLoop, self.stopped)
        self.board = Switchboard(Ledger(), 1)
        place: dict[str, Any] = {"number": 1, "upstream": 0, "peer_port": 1, "released": lambda line: None}
        sock = cast(socket, self.sock)
        self.line = (
            TlsLine(self.loop, self.board, sock, context=IDENTITY.context(), **place)
            if tls
            else Line(self.loop, self.board, sock, **place)
        )

    def of(self, kind: type[E]) -> list[E]:
        return [entry for entry in self.board.ledger if isinstance(entry, kind)]

    def serve(self, line: Line, read: Sequence[Event]) -> None:
        self.board.ledger.record(Struck, striking=0, witness=Witness.ACT, count=len(read))

    def reads_part(self, act: StopReading | AnswerEarly, data: bytes) -> None:
        PartReading(self.board, self.line, act, data, None, lambda: None, self.serve).begin()


def _in_pieces(data: bytes) -> list[bytes]:
    return [data[at : at + READ_BYTES] for at in range(0, len(data), READ_BYTES)]


LARGE = _in_pieces(work(OPERATION, user="x" * 40 * READ_BYTES))


def fin(peer: Peer) -> None:
    """The router has ended its side, and reads until the peer does."""
    peer.line.fin()


def fin_over_tls(peer: Peer) -> None:
    """The same; what comes is no TLS, so nothing of it is ever plaintext."""
    assert peer.line.read() == b""
    peer.line.fin()


def serve(peer: Peer) -> None:
    """It is an ordinary connection."""
    Connection(peer.loop, peer.board, peer.line)


def stall(peer: Peer) -> None:
    """A handshake goes no further than its ClientHello."""
    act = SpoilHandshake(how=Spoil.STALL)
    fault = next(fault.id for fault in CATALOGUE.values() if fault.act == act)
    step = ListenerStep(upstream=0, act=act, fault=fault, operation=OPERATION, read_timeout_s=1)
    HandshakeConnection(peer.board, peer.line, act, step, lambda line: None)


def stop(peer: Peer) -> None:
    """A half of a large body is read."""
    peer.reads_part(StopReading(until=Extent.HALF_BODY, ending=Ending.FIN), peer.sock.pieces[0])


def answer_early(peer: Peer) -> None:
    """It was answered, is kept, and the rest of the request is thrown away."""
    peer.reads_part(AnswerEarly(until=Extent.HEAD, status=503, content=Content.ERROR, ending=None), peer.sock.pieces[0])


HELLO = bytes((22, 3, 1, 0, 50)) + bytes(50)
HALF_OF_MUCH = _in_pieces(request(bytes(2 * MANY * READ_BYTES)))[:MANY]


@pytest.mark.parametrize(
    ("begin", "pieces", "tls"),
    [
        (fin, [ZEROS] * MANY, False),
        (fin, LARGE * 5, False),
        (fin_over_tls, [ZEROS] * MANY, True),
        (serve, LARGE, False),
        (serve, [ZEROS] * MANY, True),
        (stall, [HELLO + ZEROS, *[ZEROS] * MANY], False),
        (stop, HALF_OF_MUCH, False),
        (answer_early, HALF_OF_MUCH, False),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_no_turn_has_more_reads_than_are_its_part(
    begin: Callable[[Peer], None], pieces: list[bytes], tls: bool
) -> None:
    """However much lies there, and whoever reads it."""
    peer = Peer(*pieces, tls=tls)
    begin(peer)
    assert peer.sock.reads <= READS_AT_ONCE + 1
    assert max(peer.stopped.turns(), default=0) <= READS_AT_ONCE + 1  # one for a ClientHello


def test_what_comes_late_in_many_turns_is_recorded() -> None:
    """A request that ends several turns after its beginning, and the one behind it."""
    peer = Peer(*LARGE, *LARGE)
    peer.line.fin()
    assert len(peer.stopped.turns()) > 2
    late = peer.of(Unserved)
    assert [entry.operation for entry in late] == [OPERATION, OPERATION]
    assert all(entry.request_bytes > 40 * READ_BYTES for entry in late)


def test_a_read_that_held_many_requests_ends_its_turn() -> None:
    """Each costs the others time: what has come is recorded, and read on in the next turn."""
    peer = Peer(GET * (EVENTS_AT_ONCE + 1), GET, GET)
    peer.line.fin()
    assert peer.stopped.turn() == 1
    assert len(peer.of(Probed)) == EVENTS_AT_ONCE + 1
    peer.stopped.turns()
    assert len(peer.of(Probed)) == EVENTS_AT_ONCE + 3


def test_what_lies_unread_is_drained_up_to_a_limit_and_the_rest_is_recorded_late() -> None:
    """The largest request of a plan is read whole in one go, so that its operation is known; no more than that is."""
    largest = work(OPERATION, user="x" * 8_000_000)
    peer = Peer(*_in_pieces(largest), *LARGE * 10)
    rest = peer.line.read_rest()
    assert isinstance(rest.request, Request)
    assert rest.arrived <= REST_BYTES + READ_BYTES
    assert not rest.ended
    peer.line.unserved(rest.request, rest.arrived)
    peer.line.fin()
    peer.stopped.turns()
    assert len(peer.of(Unserved)) == 11


def test_a_handshake_of_countless_records_is_made_in_many_turns() -> None:
    """A peer may cut its ClientHello into records of one byte: each is looked at alone, and not all in one turn."""
    body = bytes((1, 0, 8, 0)) + bytes(2_048)
    peer = Peer(*[bytes((22, 3, 1, 0, 1, byte)) for byte in body], tls=True)
    looked: list[bytes | None] = []
    peer.line.on_readable(lambda: looked.append(peer.line.peek(1)))
    assert max(peer.stopped.turns()) <= RECORDS_AT_ONCE
    assert len(looked) > 2


def test_whoever_reads_when_the_turn_comes_reads_on() -> None:
    """A line that was ended meanwhile records what comes late; the one who threw its bytes away is not called again."""
    peer = Peer(HELLO + ZEROS, *[ZEROS] * MANY)
    stall(peer)
    peer.stopped.turn()
    assert peer.of(Striking)
    peer.sock.pieces[:] = LARGE
    peer.line.fin()
    peer.stopped.turns()
    assert len(peer.of(Unserved)) == 1
