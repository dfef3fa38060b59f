"""What a subject says of its futures: how long it keeps what, and how the suites are given its store and its clock."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

CLOCK, STORE, ROOM = "{clock_ms}", "{store}", "{max_bytes}"  # the words of its options that are filled
AMPLE_BYTES = 4 * 1024**3


class Store(StrEnum):
    """Where the server keeps what it has taken on."""

    MEMORY = "memory"  # it is gone with its process
    SQLITE = "sqlite"  # it outlives its process


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server keeps what it has taken on, and how many bytes of it at most (0: an ample number)."""

    store: Store = Store.MEMORY
    max_bytes: int = 0


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the server promises in ms of its clock. clock: that clock is the test's, and it tells when it is quiet.
    direct: nothing lies between it and its callers and routers: at quiescence it has seen who has left, and got what
    was sent to it.
    """

    hold_ms: int = 300_000
    retrieved_ms: int = 300_000
    undelivered_ms: int = 86_400_000
    session_ms: int = 3_600_000
    clock: bool = True
    direct: bool = True


class Offer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `futures` of a subject. options: further words of its command, with {store}, {clock_ms} and
    {max_bytes}.
    """

    options: tuple[str, ...] = ()
    hold_ms: int = 300_000
    retrieved_ms: int = 300_000
    undelivered_ms: int = 86_400_000
    session_ms: int = 3_600_000

    def __post_init__(self) -> None:
        for name in _TIMES:
            if not 1 <= getattr(self, name) <= _MOST_MS:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected 1 to {_MOST_MS} ms")

    @property
    def clock(self) -> bool:
        """The suites are given its clock."""
        return any(CLOCK in word for word in self.options)

    @property
    def store(self) -> bool:
        """The suites say where it keeps what it has taken on."""
        return any(STORE in word for word in self.options)

    @property
    def room(self) -> bool:
        """The suites say how much it keeps."""
        return any(ROOM in word for word in self.options)

    @property
    def terms(self) -> Terms:
        """What it promises."""
        return Terms(clock=self.clock, **{name: getattr(self, name) for name in _TIMES})

    def words(self, storage: Storage, clock_ms: int) -> list[str]:
        """The options, filled but for what every command knows."""
        where = "memory" if storage.store is Store.MEMORY else "sqlite:{dir}/futures.db"
        room = str(storage.max_bytes or AMPLE_BYTES)
        filled = (word.replace(STORE, where).replace(CLOCK, str(clock_ms)) for word in self.options)
        return [word.replace(ROOM, room) for word in filled]


_TIMES = ("hold_ms", "retrieved_ms", "undelivered_ms", "session_ms")
_MOST_MS = 10 * 24 * 3_600_000


def offer_in(table: Mapping[str, Any]) -> Offer:
    """The offer that a table makes. Raises ValueError for what is none."""
    try:
        return msgspec.convert(dict(table), Offer)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def is_offer(table: object) -> bool:
    """That table makes one."""
    try:
        return isinstance(table, dict) and offer_in(table) is not None
    except ValueError:
        return False
