"""The coding in which an answer's content came, as its head names it, and the content without it (RFC 9110 s8.4)."""

import zlib
from collections.abc import Iterable

from faults.vocabulary import Coding

GZIP = Coding.GZIP.value
_MAGIC = b"\x1f\x8b\x08"  # RFC 1952 s2.3.1: its two bytes, and deflate, the only method there is
_GZIP_BITS = 16 + zlib.MAX_WBITS


def coding_in(headers: Iterable[tuple[str, str]]) -> str:
    """What the head names, in lower case; empty for none. Several codings are one list (RFC 9110 s5.3)."""
    values = ",".join(value for name, value in headers if name == "content-encoding").lower().split(",")
    named = [value.strip() for value in values]
    return ", ".join(GZIP if one == "x-gzip" else one for one in named if one not in ("", "identity"))


def content_in(body: bytes, coding: str) -> bytes | None:
    """The content without that coding. None: the body is not in it, or a caller that asked for none cannot undo it."""
    if not coding:
        return body
    content, whole = _unzipped(body) if coding == GZIP else (b"", False)
    return content if whole else None


def content_so_far(body: bytes, coding: str) -> bytes:
    """The same of a body that may have been cut, as far as it can be read."""
    if not coding:
        return body
    return _unzipped(body)[0] if coding == GZIP else b""


def wrong_with_coding(body: bytes, coding: str) -> str | None:
    """What of a whole body is not as its head says; None: nothing."""
    if content_in(body, coding) is None:
        return f"content that is not in the coding that its head names ({coding!r})"
    return "content in gzip, of which its head says nothing" if not coding and body.startswith(_MAGIC) else None


def _unzipped(body: bytes) -> tuple[bytes, bool]:
    """What the members hold (RFC 1952 s2.2), and whether that is all; nothing is all of nothing."""
    pieces = []
    while body:
        member = zlib.decompressobj(_GZIP_BITS)
        try:
            pieces.append(member.decompress(body))
        except zlib.error:
            return b"".join(pieces), False
        if not member.eof:
            return b"".join(pieces), False
        body = member.unused_data
    return b"".join(pieces), True
