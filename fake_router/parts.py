"""The parts of which a reply is sent, in order: bytes, gaps of time, and padding that is made only when it is sent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PADDING_BYTES = 256 * 1024  # padding is sent in pieces of this size, which all replies share
_SPACES = bytes(memoryview(b" " * PADDING_BYTES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Nothing is sent for that many read timeouts."""

    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """So many spaces: JSON goes on meaning the same (RFC 8259 s2)."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Nothing is sent until a gate opens."""


Part = bytes | Gap | Padding | Held


def pieces(parts: Iterable[Part]) -> Iterator[bytes | Gap | Held]:
    """The parts with their padding made, piece by piece, when it is asked for."""
    for part in parts:
        if isinstance(part, Padding):
            whole, rest = divmod(part.count, PADDING_BYTES)
            for _ in range(whole):
                yield _SPACES
            yield _SPACES[:rest]
        else:
            yield part


def bytes_in(parts: Iterable[Part]) -> int:
    """How many bytes they send."""
    return sum(
        part.count if isinstance(part, Padding) else len(part) for part in parts if not isinstance(part, Gap | Held)
    )
