"""Heads of requests that were read before: the same bytes mean the same, so they are read once.

Clients write the same head again and again, but for the length of the body.
"""

import msgspec

MAX_HEADS = 1_024
MAX_BYTES = 1_024  # of a head that is remembered
_END = b"\r\n\r\n"


class Head(msgspec.Struct, frozen=True, gc=False):
    """What a head says of a request that keeps its connection and whose body has a length of its own."""

    method: str
    target: str
    http10: bool
    body_bytes: int


_known: dict[bytes, Head] = {}


def recall(data: bytes) -> tuple[Head, bytes] | None:
    """The head and the body of the one request that these bytes are, from its first to its last; None where they are
    something else, or begin with a head that was not remembered.
    """
    end = data.find(_END) + 4
    head = _known.get(data[:end])
    return None if head is None or len(data) != end + head.body_bytes else (head, data[end:])


def remember(data: bytes, head: Head) -> None:
    """Those bytes were read as one whole request with that head. It is kept where the body is what follows it: a
    chunked one is longer than its content.
    """
    end = data.find(_END) + 4
    if end + head.body_bytes == len(data) and end <= MAX_BYTES:
        if len(_known) >= MAX_HEADS:
            _known.clear()
        _known[data[:end]] = head
