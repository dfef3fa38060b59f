"""Short numbers that tell whether two requests hold the same: their bytes, and what they ask about."""

from zlib import crc32

import msgspec

_encode = msgspec.json.Encoder(order="sorted").encode


def digest_of_body(body: bytes) -> int:
    """Of the bytes: two bodies with different ones differ in it, but for one chance in four thousand million."""
    return crc32(body)


def digest_of_content(content: object) -> int:
    """Of a prompt or of messages, decoded: how the JSON was written is all one."""
    return crc32(_encode(content))
