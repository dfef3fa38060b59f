"""The keys of one sampling session, packed: 24 bytes each, since a session may live for weeks, and all its keys too."""

from array import array
from bisect import bisect_left
from hashlib import blake2b
from typing import NamedTuple


class Known(NamedTuple):
    """What a key was first used for."""

    counter: int
    content: int


class Keys:
    """Three arrays in the order of seq_id. Keys come nearly in that order, so that one is put at the end or near it."""

    __slots__ = ("_contents", "_counters", "_seq_ids")

    def __init__(self) -> None:
        self._seq_ids = array("Q")
        self._counters = array("Q")
        self._contents = array("Q")

    def __len__(self) -> int:
        return len(self._seq_ids)

    @property
    def counters(self) -> "array[int]":
        """The operations that these keys name, in the order of seq_id."""
        return self._counters

    def get(self, seq_id: int) -> Known | None:
        """What this key was used for; None: it is new."""
        at = self._at(seq_id)
        return None if at is None else Known(self._counters[at], self._contents[at])

    def put(self, seq_id: int, known: Known) -> None:
        """Remember a key that is new."""
        at = bisect_left(self._seq_ids, seq_id)
        self._seq_ids.insert(at, seq_id)
        self._counters.insert(at, known.counter)
        self._contents.insert(at, known.content)

    def drop(self, seq_id: int) -> bool:
        """As if it had never been used; False: it was not."""
        at = self._at(seq_id)
        if at is None:
            return False
        for column in (self._seq_ids, self._counters, self._contents):
            del column[at]
        return True

    def clear(self) -> None:
        """All at once."""
        for column in (self._seq_ids, self._counters, self._contents):
            del column[:]

    def _at(self, seq_id: int) -> int | None:
        seq_ids = self._seq_ids
        at = bisect_left(seq_ids, seq_id)
        return at if at < len(seq_ids) and seq_ids[at] == seq_id else None


def content_of(digest: bytes) -> int:
    """63 bits of a digest: it is only ever compared with the one that came with the same key before."""
    return int.from_bytes(blake2b(digest, digest_size=8).digest(), "big") >> 1
