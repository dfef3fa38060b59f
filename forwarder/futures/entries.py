"""What is written down, so that a crash forgets none of it: a closed union."""

from collections.abc import Iterable
from dataclasses import dataclass

from forwarder.futures.ids import StoreIdentity
from forwarder.futures.outcome import Outcome
from forwarder.futures.states import State


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """It began with a heartbeat."""

    session_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The session lives."""

    session_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """It is gone, and its sampling sessions with it."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SamplingOpened:
    """A sampling session of a session."""

    number: int
    session_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """An operation was taken on under a key."""

    counter: int
    sampling: int
    seq_id: int
    content: int


@dataclass(frozen=True, slots=True)
class Finished:
    """An operation has its outcome."""

    counter: int
    at_ms: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Delivered:
    """Its outcome was possibly delivered."""

    counter: int


@dataclass(frozen=True, slots=True)
class OutcomeGone:
    """Its outcome is kept no longer: EVICTED or EXPIRED."""

    counter: int
    state: State


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Nothing is known any more of the operations from first to last."""

    first: int
    last: int


Entry = (
    SessionOpened
    | Heartbeat
    | SessionEnded
    | SamplingOpened
    | Accepted
    | Finished
    | Delivered
    | OutcomeGone
    | Forgotten
)


@dataclass(frozen=True, slots=True)
class Row:
    """An operation as it was written down: PENDING, UNDELIVERED or DELIVERED (then finished), EVICTED or EXPIRED."""

    accepted: Accepted
    state: State
    finished: Finished | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """All that is written down. `rows` are in the order of their counters, and are read once."""

    identity: StoreIdentity
    next_counter: int
    sessions: list[SessionOpened]
    samplings: list[SamplingOpened]
    rows: Iterable[Row]
