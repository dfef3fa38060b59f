"""A socket that closes its descriptor only while that is still its own.

aiohttp connects a socket and hands it to the loop. Where the peer resets it before the loop has taken it over, uvloop
0.23 closes the descriptor and leaves its number with the socket, whose finaliser later closes whatever has that number
by then: another connection, a file (measured: 264 of 6,000 descriptors, over TLS against a router that resets at
accept; https://github.com/MagicStack/uvloop/issues/645 is of the same kind).
"""

import contextlib
import os
import socket

from aiohttp.connector import AddrInfoType


class OwnSocket(socket.socket):
    """Knows its descriptor by the inode, which no other open file has."""

    def __init__(self, family: int, type_: int, proto: int) -> None:
        super().__init__(family, type_, proto)
        self._inode = os.fstat(self.fileno()).st_ino

    def close(self) -> None:
        """Close the descriptor, or let go of its number where somebody else has closed it."""
        if self.fileno() >= 0 and not self._is_own():
            self.detach()
        super().close()

    def _is_own(self) -> bool:
        try:
            return os.fstat(self.fileno()).st_ino == self._inode
        except OSError:
            return False

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # it was never made
            self.close()


def own_socket(address: AddrInfoType) -> OwnSocket:
    """As aiohttp makes sockets: for one address of a name."""
    family, type_, proto, *_ = address
    return OwnSocket(family, type_, proto)
