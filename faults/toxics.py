"""Toxics are what Toxiproxy does to a connection that it passes on, as data: a closed union with checked parameters.

Toxiproxy checks none of them: a slicer whose sizes do not fit ends its whole process, and a bandwidth of 0 stops a
connection for ever. Units are in the names; Toxiproxy's own names are in `suites/toxiproxy/client.py`.
"""

from dataclasses import dataclass
from enum import StrEnum

LONGEST_MS = 600_000
LARGEST_BYTES = 2**40


class Direction(StrEnum):
    """Which bytes a toxic strikes, in the words of Toxiproxy."""

    UPSTREAM = "upstream"  # from the caller of the proxy to its upstream: requests
    DOWNSTREAM = "downstream"  # from the upstream to the caller: replies


def _check(what: str, value: int, at_least: int, at_most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        raise ValueError(f"{what} is {value!r}; expected a whole number from {at_least} to {at_most}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneWay:
    """What all toxics but `Down` share. `toxicity`: 1, or 0 for one that is there and does nothing; what lies between
    would be drawn by Toxiproxy for each connection, and no plan could say which of them was struck.

    Raises ValueError for a value that is out of its range.
    """

    direction: Direction = Direction.DOWNSTREAM
    toxicity: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.direction, Direction):
            raise ValueError(f"direction is {self.direction!r}; expected upstream or downstream")
        _check("toxicity", self.toxicity, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(_OneWay):
    """Bytes come later by `latency_ms`, give or take `jitter_ms`, and in order."""

    latency_ms: int
    jitter_ms: int = 0

    def __post_init__(self) -> None:
        super(Latency, self).__post_init__()
        _check("latency_ms", self.latency_ms, 0, LONGEST_MS)
        _check("jitter_ms", self.jitter_ms, 0, self.latency_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth(_OneWay):
    """At most `rate_kbytes_s` thousand bytes pass in a second."""

    rate_kbytes_s: int

    def __post_init__(self) -> None:
        super(Bandwidth, self).__post_init__()
        _check("rate_kbytes_s", self.rate_kbytes_s, 1, 1_000_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicer(_OneWay):
    """Bytes pass in pieces of `average_bytes`, give or take `variation_bytes`, with a pause after each."""

    average_bytes: int
    variation_bytes: int = 0
    delay_us: int = 0

    def __post_init__(self) -> None:
        super(Slicer, self).__post_init__()
        _check("average_bytes", self.average_bytes, 1, LARGEST_BYTES)
        _check("variation_bytes", self.variation_bytes, 0, self.average_bytes - 1)
        _check("delay_us", self.delay_us, 0, LONGEST_MS * 1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowClose(_OneWay):
    """The end of a connection is passed on `delay_ms` later than it came."""

    delay_ms: int

    def __post_init__(self) -> None:
        super(SlowClose, self).__post_init__()
        _check("delay_ms", self.delay_ms, 0, LONGEST_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(_OneWay):
    """Bytes are thrown away. The connection is closed when none came for `timeout_ms`; 0: it stays open."""

    timeout_ms: int

    def __post_init__(self) -> None:
        super(Timeout, self).__post_init__()
        _check("timeout_ms", self.timeout_ms, 0, LONGEST_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPeer(_OneWay):
    """The first bytes in its direction are thrown away, and both sides are reset `timeout_ms` after they came.

    They read EOF instead where the toxic was added to a connection that was open before.
    """

    timeout_ms: int = 0

    def __post_init__(self) -> None:
        super(ResetPeer, self).__post_init__()
        _check("timeout_ms", self.timeout_ms, 0, LONGEST_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitData(_OneWay):
    """`limit_bytes` pass, and the connection is closed."""

    limit_bytes: int

    def __post_init__(self) -> None:
        super(LimitData, self).__post_init__()
        _check("limit_bytes", self.limit_bytes, 0, LARGEST_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Down:
    """The proxy listens no more, and its connections are closed."""


OneWayToxic = Latency | Bandwidth | Slicer | SlowClose | Timeout | ResetPeer | LimitData
Toxic = OneWayToxic | Down
