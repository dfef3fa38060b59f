"""A packet socket on loopback, or in a network of our own: it sees what the kernel passes there before whoever it is
meant for does. Linux only.
"""

import socket
import struct
from collections.abc import Iterator, Sequence
from ctypes import addressof, create_string_buffer
from types import TracebackType
from typing import Self

from fake_router import own_network

# linux/if_packet.h, linux/if_ether.h, asm-generic/socket.h
_ETH_P_IP, _ETH_P_ALL = 0x0800, 0x0003
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_SO_ATTACH_FILTER = 26
_BUFFER_BYTES = 1 << 20

Instruction = tuple[int, int, int, int]  # of classic BPF: code, jump if true, jump if false, k
# Load the packet's protocol (linux/filter.h: SKF_AD_PROTOCOL), and let nothing through that is no IPv4.
_IP_ALONE: tuple[Instruction, ...] = ((0x28, 0, 0, 0xFFFF_F000), (0x15, 1, 0, _ETH_P_IP), (0x06, 0, 0, 0))


class PacketsLostError(RuntimeError):
    """The kernel dropped packets that a witness should have seen: what it says no longer proves anything."""


class PacketSocket:
    """Sees the IPv4 packets that a filter lets through, each once, and of each no more than `snap_bytes`.

    Raises PermissionError without CAP_NET_RAW.
    """

    def __init__(self, program: Sequence[Instruction], snap_bytes: int) -> None:
        self._snap_bytes = snap_bytes
        self._lost = 0
        # Protocol 0 receives nothing: no packet gets in before the filter stands.
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            interface = own_network.interface()
            _attach(self._socket, (*_IP_ALONE, *program))
            # A socket for one protocol sees what is received, not what is sent: each packet of lo once. Elsewhere what
            # our kernel answers is received by others.
            self._socket.bind((interface, _ETH_P_IP if interface == own_network.LOOPBACK else _ETH_P_ALL))
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """The descriptor that becomes readable with every packet."""
        return self._socket.fileno()

    def packets(self) -> Iterator[bytes]:
        """Those that have come since the last time, in order; never waits.

        Raises PacketsLostError once the kernel has lost one, and from then on.
        """
        while True:
            try:
                packet = self._socket.recv(self._snap_bytes)
            except BlockingIOError:
                break
            yield packet
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        self._lost += struct.unpack("=II", statistics)[1]
        if self._lost:
            raise PacketsLostError(f"{self._lost} packets were lost by a packet socket; expected none: repeat the run")

    def close(self) -> None:
        """Stop watching. Safe to call twice."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _attach(sock: socket.socket, program: Sequence[Instruction]) -> None:
    code = create_string_buffer(b"".join(struct.pack("=HBBI", *instruction) for instruction in program))
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(program), addressof(code)))
