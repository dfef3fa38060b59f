"""How much is kept, and for how long; each time with its reason, which docs/futures.md shows."""

from dataclasses import dataclass, field, fields

_SECOND = 1000
_HOUR = 3600 * _SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Ttl:
    """Times in ms. Raises ValueError for what cannot be."""

    undelivered_ms: int = field(
        default=24 * _HOUR,
        metadata={
            "from": "its outcome landed",
            "reason": "the work was paid for and nobody is known to have its result: a caller that hangs, is stopped "
            "for a night or is started again the next day still gets it. It starts when the outcome lands, not at "
            "submit, so that long work is not late before it ends; and a poll that was abandoned does not shorten it",
        },
    )
    retrieved_ms: int = field(
        default=300 * _SECOND,
        metadata={
            "from": "each answer that possibly delivered it",
            "reason": "a send that was not seen to fail proves no delivery: the bytes may lie in a dead socket. The "
            "caller gives up after 45 s (90 s by its other transport), waits up to 30 s and polls again: two misses "
            "in a row span 45 + 1 + 45 + 30 s and more, and this outlasts them twice",
        },
    )
    session_ms: int = field(
        default=1 * _HOUR,
        metadata={
            "from": "the session's last heartbeat",
            "reason": "a caller beats every 10 s for as long as it lives; while it may re-send a submit its keys must "
            "be known, also those of results that are gone, or the work would run again. 360 beats missed in a row "
            "are no hiccup of the network. Results outlive their session by their own TTL",
        },
    )
    hold_ms: int = field(
        default=300 * _SECOND,
        metadata={
            "from": "a poll came",
            "reason": "a poll that finds nothing waits: longer than any caller does, so that it is the caller who "
            "gives up, and a poll answered with 408 is not asked again at once, without end",
        },
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) <= 0:
                raise ValueError(f"{each.name} is {getattr(self, each.name)!r}; expected more than 0")
        if self.retrieved_ms > self.undelivered_ms:
            raise ValueError(
                f"retrieved_ms is {self.retrieved_ms!r}; expected at most undelivered_ms, which is "
                f"{self.undelivered_ms!r}: a delivery does not prolong what is kept"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is accepted at most. Raises ValueError for what cannot be.

    max_bytes: of memory, for results that are kept and those that may still come (each reserves its upper bound when
    it is accepted), for requests that come or run, for keys, and for sessions. max_futures: operations that
    run or whose outcome is kept.
    """

    max_bytes: int = 4 * 1024**3
    max_futures: int = 1_000_000

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) <= 0:
                raise ValueError(f"{each.name} is {getattr(self, each.name)!r}; expected more than 0")
