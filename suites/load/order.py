"""What one caller process is told, as the file that it reads."""

import bisect
from pathlib import Path

import msgspec

from suites.load.asked import Callers

ORDER, RECORDS, PROGRESS, SUMMARY = "order.json", "records", "progress", "summary.json"  # in its folder


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that says "not executed": a status, and a text that its body contains."""

    status: int
    body: str


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """It has `slots` callers, each of which asks for one operation at a time. Slot s of this process is number
    index + s * processes of all, and always calls the same instance; so are its operations numbered, from 1.

    operations: of this process at most. body: of a request, with NUMBER in it. connecting: to one instance at a time.
    stairs: with a ramp, so many of all slots ask from the beginning, so many from the next equal part of `for_s` on,
    and so on. host: in the head of a request, where it is not the instance's address. sources: addresses from which it
    connects; none: any. leave_every: every so many operations its caller abandons its first poll as soon as it is
    written (0: none). tls: they speak TLS, and believe who has a certificate of `ca` (PEM; empty: of those that their
    machine trusts).
    """

    index: int
    processes: int
    slots: int
    operations: int
    callers: Callers
    instances: list[tuple[str, int]]
    sources: list[str]
    connecting: int
    give_up_s: float
    patience_s: float
    leave_every: int
    for_s: float | None = None
    stairs: list[int] = msgspec.field(default_factory=list)
    tls: bool = False
    ca: str = ""
    host: str = ""
    target: str = ""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: str = ""
    not_executed: list[Claim] = msgspec.field(default_factory=list)

    def number(self, nth: int) -> int:
        """Of its nth operation, from 0."""
        return 1 + self.index + nth * self.processes

    def begins_after_s(self, slot: int) -> float:
        """How long after the word that slot begins: with its stair."""
        below = bisect.bisect_right(self.stairs, self.index + slot * self.processes)
        return 0.0 if self.for_s is None or not self.stairs else below * self.for_s / len(self.stairs)

    def instance_of(self, slot: int) -> int:
        """Which instance that slot calls."""
        return (self.index + slot * self.processes) % len(self.instances)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What it says at its end beside its records: the words that their `why` counts in."""

    whys: list[str]


def read_order(folder: Path) -> Order:
    """Raises OSError and msgspec.ValidationError for what is none."""
    return msgspec.json.decode((folder / ORDER).read_bytes(), type=Order)
