"""What the kernel says about connections that no socket of ours sees: SYNs dropped at a full accept queue, connects
refused by RST, and the sockets that a subject holds. Linux only.
"""

import socket
import struct
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fake_router.packet_socket import Instruction, PacketSocket
from fake_router.sock_diag import TcpSocket, as_they_are, tcp_sockets

_LISTEN = 1 << 10  # states are numbered in net/tcp_states.h
# All but TIME_WAIT (6) and LISTEN (10), and the request sockets of a handshake that the peer began (3, 12).
_CONNECTED = sum(1 << state for state in (1, 2, 4, 5, 7, 8, 9, 11))
_READABLE = 1 << 1 | 1 << 8  # ESTABLISHED, and CLOSE_WAIT: the peer has ended its side


def listener_drops(port: int) -> int:
    """How many SYNs the kernel has dropped at the TCP listener on that port since it began to listen.

    Needs no privilege. The kernel sends a dropped SYN again after 1 s, so this counts SYNs and not dials. Raises
    LookupError when nothing listens on the port, OSError when the kernel has no sock_diag.
    """
    found = list(tcp_sockets(_LISTEN, source_port=port))
    if not found:
        raise LookupError(f"nothing listens on TCP port {port!r}; expected a listener whose drops can be read")
    return sum(s.drops for s in found)


def sockets_towards(ports: Collection[int], excluding: Collection[int] = ()) -> int:
    """How many TCP sockets on this machine have one of `ports` as their remote port and are still held by a process.

    Raises OSError when the kernel has no sock_diag.
    """
    return sockets_by_port(ports, excluding).total()


def sockets_by_port(ports: Collection[int], excluding: Collection[int] = ()) -> Counter[int]:
    """The same for each of these ports, in one look. It costs a walk over all TCP sockets of the machine (1 ms),
    however many ports are asked for (at most some 3,000).

    A socket counts while a descriptor refers to it (its inode is not 0), in every state: SYN_SENT, ESTABLISHED,
    and CLOSE_WAIT are the ones that a pool leaks. TIME_WAIT, and a FIN_WAIT or LAST_ACK that its process has closed,
    are the kernel's own and do not count. Nor does what a server has accepted: its client has that port by chance, on
    another address of this machine. `excluding` are source ports of connections of our own. IPv6 sockets that talk to
    IPv4 addresses count too. Raises OSError when the kernel has no sock_diag.
    """
    return Counter(s.remote_port for s in held_towards(ports) if s.source_port not in excluding)


def held_towards(ports: Collection[int]) -> tuple[TcpSocket, ...]:
    """The sockets that `sockets_by_port` counts. Raises OSError when the kernel has no sock_diag."""
    if not ports:
        return ()
    held = [s for s in tcp_sockets(_CONNECTED, remote_ports=ports) if s.inode != 0]
    served = _listening() if held else frozenset()
    return tuple(s for s in held if s.source_port not in served)


def still_held(sockets: Collection[TcpSocket]) -> tuple[TcpSocket, ...]:
    """Those of them that a process has not closed. Raises OSError when the kernel has no sock_diag."""
    return tuple(s for s in as_they_are(sockets) if s.inode != 0)


def _listening() -> frozenset[int]:
    """Every TCP port on which a process of this machine listens."""
    return frozenset(s.source_port for s in tcp_sockets(_LISTEN))


def unaccepted(port: int) -> dict[int, int]:
    """The connections to that port which the kernel has completed and no process has accepted: how many bytes lie
    unread in each, by the peer's port. Raises OSError when the kernel has no sock_diag.
    """
    return {s.remote_port: s.unread_bytes for s in tcp_sockets(_READABLE, source_port=port) if s.inode == 0}


def unread_in(port: int, *, of: int) -> int:
    """How many bytes lie unread at that port in a connection of the peer with port `of`; 0 also where there is none
    on this machine. Raises OSError when the kernel has no sock_diag.
    """
    return sum(s.unread_bytes for s in tcp_sockets(_READABLE, source_port=port) if s.remote_port == of)


_SYN, _RST, _ACK = 0x02, 0x04, 0x10
_SNAP_BYTES = 80  # an IPv4 head with all its options and the fixed TCP head


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """One attempt to connect, by its source port; the kernel's re-sent SYNs are the same dial."""

    peer_port: int
    refused: bool


def can_watch_packets() -> bool:
    """This process may open packet sockets (CAP_NET_RAW), so a DialWitness can be had."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0).close()
    except OSError:
        return False
    return True


class DialWitness(PacketSocket):
    """Sees every dial to one TCP port over IPv4, also where nobody listens.

    refusing: the port is bound and nobody listens, so a dial is told once, when its RST has been seen; else a dial
    is told at its SYN. A packet is in the queue before the TCP of its receiver sees it: when a subject acts on a
    refusal, `read` can already tell it. Dials over IPv6 are not seen. Open it after connections of our own
    (fillers). Raises PermissionError without CAP_NET_RAW.
    """

    def __init__(self, port: int, *, refusing: bool) -> None:
        self._refusing = refusing
        self._told: set[tuple[bytes, int, int]] = set()
        self._waiting: dict[tuple[bytes, int], int] = {}
        super().__init__(_syn_to_or_rst_from(port), _SNAP_BYTES)

    def read(self) -> list[Dial]:
        """The dials that have become known since the last read, in order; never waits.

        Raises PacketsLostError once the kernel has lost a packet, and from then on.
        """
        return [dial for packet in self.packets() for dial in self._told_by(packet)]

    def _told_by(self, packet: bytes) -> Iterator[Dial]:
        tcp = (packet[0] & 0x0F) * 4
        source, destination, sequence = struct.unpack_from("!HHI", packet, tcp)
        if packet[tcp + 13] & _RST:
            # RFC 9293 s3.5.2: only the RST that answers a segment to a closed port has sequence number 0; that of
            # a connection that once was goes on counting from its own.
            if sequence == 0 and self._waiting.pop((packet[16:20], destination), None) is not None:
                yield Dial(peer_port=destination, refused=True)
            return
        dial = packet[12:16], source, sequence  # one that is sent again keeps its number, a new dial does not
        if dial in self._told:
            return
        self._told.add(dial)
        if self._refusing:
            self._waiting[packet[12:16], source] = sequence
        else:
            yield Dial(peer_port=source, refused=False)


def _syn_to_or_rst_from(port: int) -> list[Instruction]:
    """A program over an IPv4 packet."""
    return [
        (0x30, 0, 0, 9),  # A = protocol
        (0x15, 0, 11, socket.IPPROTO_TCP),
        (0x28, 0, 0, 6),  # A = fragment offset
        (0x45, 9, 0, 0x1FFF),
        (0xB1, 0, 0, 0),  # X = length of the IPv4 head
        (0x50, 0, 0, 13),  # A = TCP flags
        (0x45, 4, 0, _RST),
        (0x54, 0, 0, _SYN | _ACK),
        (0x15, 0, 4, _SYN),
        (0x48, 0, 0, 2),  # A = destination port (of a SYN)
        (0x05, 0, 0, 1),
        (0x48, 0, 0, 0),  # A = source port (of a RST)
        (0x15, 1, 0, port),
        (0x06, 0, 0, 0),
        (0x06, 0, 0, _SNAP_BYTES),
    ]
