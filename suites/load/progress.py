"""How far a caller process is, in shared memory: it counts, and whoever looks reads, without a word between them."""

import mmap
import os
import struct
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from suites.load.order import PROGRESS

_BYTES = 8  # of each count; a store of so many is whole on every machine with 64 bits


class Count(IntEnum):
    """What is counted."""

    CONNECTED = 0  # slots with a connection, before they begin
    BEGUN = 1  # operations
    DONE = 2
    FAILED = 3
    CONNECTS = 4  # connections that were made
    REFUSED = 5  # and those that were not
    BROKEN = 6  # connections that ended while an answer was waited for
    POLLS = 7
    ABANDONED = 8  # polls that were left before their answer
    RESENT = 9  # submits that were sent again


class Progress:
    """The counts of one process, in a file of its folder. It is its only writer."""

    def __init__(self, folder: Path, *, made: bool = False) -> None:
        size = _BYTES * len(Count)
        descriptor = os.open(folder / PROGRESS, os.O_RDWR | (os.O_CREAT if made else 0), 0o600)
        try:
            if made:
                os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self._counts = memoryview(self._map).cast("q")

    def add(self, count: Count, more: int = 1) -> None:
        """One more of these."""
        self._counts[count] += more

    def read(self) -> dict[Count, int]:
        """All of them, now."""
        return dict(zip(Count, struct.unpack(f"{len(Count)}q", self._map), strict=True))

    def close(self) -> None:
        """Nobody counts, and nobody looks."""
        self._counts.release()
        self._map.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
