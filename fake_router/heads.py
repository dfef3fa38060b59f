"""Heads of requests that were read before: the same bytes mean the same, so they are read once.

Clients write the same head again and again, but for the length of the body.
"""

import msgspec

MAX_HEADS = 1_024
MAX_BYTES = 1_024  # of a head that is remembered
_END = b"\r\n\r\n"


class Head(msgspec.Struct, frozen=True, gc=False):
    """A head, and what it says of a request that keeps its connection and whose body has a length of its own."""

    data: bytes
    request_bytes: int  # with its body
    method: str
    target: str
    http10: bool


_known: dict[bytes, Head] = {}


def recall(data: bytes) -> Head | None:
    """The head of the one request that these bytes are, from its first to its last; None where they are something else,
    or begin with a head that was not remembered.
    """
    head = _known.get(data[: data.find(_END) + 4])
    return None if head is None or len(data) != head.request_bytes else head


def remember(data: bytes, method: str, target: str, http10: bool, body_bytes: int) -> None:
    """Those bytes were read as one whole request with that head. It is kept where the body is what follows it: a
    chunked one is longer than its content.
    """
    end = data.find(_END) + 4
    if end + body_bytes == len(data) and end <= MAX_BYTES:
        if len(_known) >= MAX_HEADS:
            _known.clear()
        _known[data[:end]] = Head(data[:end], len(data), method, target, http10)
