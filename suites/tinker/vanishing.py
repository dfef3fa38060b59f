"""A caller that vanishes: from then on its kernel takes no segment of that connection in, and sends none.

Every segment that comes is dropped before TCP sees it, by a filter on the socket itself, so that nothing is
acknowledged; and a socket that is never closed sends no FIN. Measured on Linux 6.18: it takes CAP_NET_ADMIN on a TCP
socket (root, or --own-network).
"""

import ctypes
import os
import socket
import struct
from functools import cache

_SO_ATTACH_FILTER = 26  # asm-generic/socket.h; Python names it nowhere
_RETURN_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)  # linux/filter.h: BPF_RET | BPF_K, 0 bytes of the packet


def vanish(sock: socket.socket) -> None:
    """Nothing comes to that socket any more. Raises OSError without the right to filter."""
    program = ctypes.create_string_buffer(_RETURN_NOTHING)
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(program)))


@cache
def cannot_vanish() -> str | None:
    """Why no caller can vanish here; None where it can."""
    with socket.socket() as sock:
        try:
            vanish(sock)
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            return f"a caller that vanishes filters what comes to its socket ({why}): needs CAP_NET_ADMIN"
    return None
