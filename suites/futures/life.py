"""The life of each operation as its callers can know it, and what a poll for it may be answered: the model that the
answers of a server are held against. Pure; it knows what the server must keep, never how.
"""

from dataclasses import dataclass
from enum import StrEnum

from suites.futures.offer import Terms
from suites.futures.record import Answered, Asked, Kind, Left, Reached


class State(StrEnum):
    """What of an operation must be retrievable."""

    NEVER = "never taken"  # no caller was given an id for it
    HELD = "in flight"  # the router has not answered
    UNDELIVERED = "undelivered"  # nobody can have got its result: it is kept for the long TTL
    DELIVERED = "possibly delivered"  # somebody may have: it is kept for the retrieved TTL
    STALE = "past its TTL"  # it may be gone, and may be there
    FORGOTTEN = "of another store"  # the store that knew it is gone: nothing may be known of it


CLOSE_MS = 1  # before the end of a TTL
KEPT = frozenset({State.UNDELIVERED, State.DELIVERED})

MAY_ANSWER: dict[State, frozenset[Kind]] = {
    State.NEVER: frozenset(),
    State.HELD: frozenset({Kind.TRY_AGAIN}),
    State.UNDELIVERED: frozenset({Kind.RESULT, Kind.FAILED}),
    State.DELIVERED: frozenset({Kind.RESULT, Kind.FAILED}),
    State.STALE: frozenset({Kind.RESULT, Kind.FAILED, Kind.GONE}),
    State.FORGOTTEN: frozenset({Kind.GONE}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One operation so far. first_id: what the first submit that was answered was given. landed_ms: when its result
    came. delivered_ms: when somebody may have got it, for the last time. interrupted: its server ended while it was in
    flight. unseen: pollers that are gone without a word, to which it is sent all the same. refused: there was no room
    for it once. struck: it was in flight while something was done to what lies between the server and its routers.
    """

    session: int
    first_id: str = ""
    submits: int = 0
    landed_ms: int | None = None
    delivered_ms: int | None = None
    interrupted: bool = False
    forgotten: bool = False
    unseen: int = 0
    refused: bool = False
    struck: bool = False

    def ends_ms(self, terms: Terms) -> int | None:
        """Until when its outcome must be kept. TTLs are lower bounds: at its end it may be gone."""
        if self.landed_ms is None:
            return None
        if self.delivered_ms is not None:
            return self.delivered_ms + terms.retrieved_ms
        return self.landed_ms + terms.undelivered_ms

    def state(self, now_ms: int, terms: Terms) -> State:
        """What must be retrievable of it at that time."""
        if self.forgotten:
            return State.FORGOTTEN
        if not self.submits:
            return State.NEVER
        ends_ms = self.ends_ms(terms)
        if ends_ms is None:
            return State.HELD
        if now_ms >= ends_ms:
            return State.STALE
        return State.UNDELIVERED if self.delivered_ms is None else State.DELIVERED


@dataclass(slots=True)
class PollLife:
    """One poll so far. state: that of its operation when its reply came. ends_in_ms: how long that was to be kept."""

    asked: Asked
    left: Left | None = None
    reached: Reached | None = None
    answered: Answered | None = None
    state: State | None = None
    ends_in_ms: int | None = None
    over: bool = False  # the server that it was asked of is gone

    @property
    def waits(self) -> bool:
        """Its caller is still there, and nothing has come."""
        return self.left is None and self.reached is None and not self.over


@dataclass(slots=True)
class SessionLife:
    """One session so far. beaten_ms: when it was last heard of."""

    beaten_ms: int
    forgotten: bool = False
