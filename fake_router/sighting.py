"""Who can say which requests were lost on the way to an upstream: a packet socket sees them before Toxiproxy does."""

import struct
from threading import Thread

from fake_router.entries import Sighted
from fake_router.injector import ListenerStep
from fake_router.packet_socket import Instruction, PacketsLostError, PacketSocket
from fake_router.routes import Probe, Work, unserved_work
from fake_router.switchboard import Switchboard
from fake_router.wire import Request, RequestParser

_SNAP_BYTES = 1 << 17  # more than any packet of loopback has
LOOKED_AT_BYTES = 1 << 17  # of a request; of a longer one it is not known whose it is
_SYN = 0x02
_NUMBERS = 1 << 32  # sequence numbers begin again there


class RequestWitness(PacketSocket):
    """Sees what is sent to one TCP port over IPv4, connection by connection: `sent` is how each begins, by its peer's
    port. Of one that was open before it begins with what was sent first since then.

    Raises PermissionError without CAP_NET_RAW.
    """

    def __init__(self, port: int) -> None:
        self.sent: dict[int, bytearray] = {}
        self._next: dict[int, int] = {}  # the sequence number that comes next
        super().__init__(_tcp_to(port), _SNAP_BYTES)

    def read(self) -> None:
        """Take in what has been sent since the last time; never waits. Raises PacketsLostError."""
        for packet in self.packets():
            self._take(packet)

    def _take(self, packet: bytes) -> None:
        tcp = (packet[0] & 0x0F) * 4
        source, _, sequence = struct.unpack_from("!HHI", packet, tcp)
        if packet[tcp + 13] & _SYN:
            if self._next.get(source) != (sequence + 1) % _NUMBERS:
                self._next[source] = (sequence + 1) % _NUMBERS
                self.sent.setdefault(source, bytearray())
            return
        end = int.from_bytes(packet[2:4], "big") or len(packet)
        sent = packet[tcp + (packet[tcp + 12] >> 4) * 4 : end]
        known = (self._next.get(source, sequence) - sequence) % _NUMBERS  # bytes that the kernel sends again
        if not sent or known >= len(sent):
            return
        kept = self.sent.setdefault(source, bytearray())
        kept += sent[known : known + LOOKED_AT_BYTES - len(kept)]
        self._next[source] = (sequence + len(sent)) % _NUMBERS


class SightedWay:
    """The way to one upstream, from the arming of a toxic that loses requests to its healing. What is seen there is
    recorded when the run has settled: all of it, or, by a witness that has lost packets, nothing.
    """

    def __init__(self, board: Switchboard, step: ListenerStep, port: int) -> None:
        self._board = board
        self._upstream = step.upstream
        try:
            self._packets: RequestWitness | None = RequestWitness(port)
        except PermissionError:
            self._packets = None

    @property
    def fileno(self) -> int | None:
        """Readable when there is something to poll; None where packets cannot be watched."""
        return None if self._packets is None else self._packets.fileno()

    def poll(self) -> None:
        """Take in what has been sent since the last poll."""
        if self._packets is None:
            return
        try:
            self._packets.read()
        except PacketsLostError:
            self._packets.sent.clear()  # what it says proves nothing; from now on it says this each time

    def settle(self, *, excluded: bool) -> None:
        """Record what was seen, once."""
        self.poll()
        if self._packets is not None:
            for peer_port, sent in self._packets.sent.items():
                if sent:
                    self._record(peer_port, bytes(sent))
            self._packets.sent.clear()

    def _record(self, peer_port: int, sent: bytes) -> None:
        request = _request_in(sent)
        work = None if request is None else unserved_work(request, self._board.probes)
        self._board.ledger.record(
            Sighted,
            upstream=self._upstream,
            peer_port=peer_port,
            operation=work.operation if isinstance(work, Work) else None,
            probe=isinstance(work, Probe),
            request_bytes=len(sent),
        )

    def close(self) -> None:
        """Watch no more. Safe to call twice. The kernel takes its time to close a packet socket (`DialFault`)."""
        if self._packets is not None:
            Thread(target=self._packets.close, name="close-packet-socket").start()
            self._packets = None


def _request_in(sent: bytes) -> Request | None:
    """The request that these bytes begin with; of one that is not whole what its first line says (RFC 9112 s3)."""
    for event in RequestParser().feed(sent):
        if isinstance(event, Request):
            return event
    words = sent.partition(b"\r\n")[0].split(b" ")
    if len(words) != len(("method", "target", "version")):
        return None
    method, target = (word.decode("latin-1") for word in words[:2])
    return Request(method=method, target=target, body=b"", keep_alive=False, http10=False)


def _tcp_to(port: int) -> list[Instruction]:
    """A program over an IPv4 packet."""
    return [
        (0x30, 0, 0, 9),  # A = protocol
        (0x15, 0, 6, 6),  # TCP
        (0x28, 0, 0, 6),  # A = fragment offset
        (0x45, 4, 0, 0x1FFF),
        (0xB1, 0, 0, 0),  # X = length of the IPv4 head
        (0x48, 0, 0, 2),  # A = destination port
        (0x15, 0, 1, port),
        (0x06, 0, 0, _SNAP_BYTES),
        (0x06, 0, 0, 0),
    ]
