"""What stands at our place on a network of a stack's: a name server that knows no name, and says so at once.

Sent to a container as it is, where there is nothing but Python. Docker's own name server asks it for what it does not
know, such as a container that is down. Where nobody answers that, it says nothing either: a system's resolver waits for
10 s, with a thread that looks up nothing else meanwhile, and libuv has two of those.
"""

import socket
from contextlib import suppress

PORT = 53
_HEADER_BYTES = 12
_TYPE_AND_CLASS_BYTES = 4
_NO_SUCH_NAME = b"\x81\x83"  # a response, recursion desired and available, NXDOMAIN (RFC 1035 s4.1.1)
_MAX_BYTES = 65_535


def answer(asked: bytes) -> bytes | None:
    """To one question; None for what is none."""
    end = _HEADER_BYTES
    while end < len(asked) and asked[end]:  # labels, each behind its length; the last is empty
        end += 1 + asked[end]
    end += 1 + _TYPE_AND_CLASS_BYTES
    if end > len(asked) or asked[4:6] != b"\x00\x01" or asked[2] & 0x80:
        return None
    return asked[:2] + _NO_SUCH_NAME + b"\x00\x01" + bytes(6) + asked[_HEADER_BYTES:end]


def serve_one(sock: socket.socket) -> None:
    """Whoever asks next."""
    asked, whom = sock.recvfrom(_MAX_BYTES)
    if (answered := answer(asked)) is not None:
        with suppress(OSError):  # nobody can be there, at port 0 say: that is no reason to leave all others alone
            sock.sendto(answered, whom)


if __name__ == "__main__":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("", PORT))
        while True:
            serve_one(here)
