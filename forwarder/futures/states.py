"""The life of a future as one table: the store moves a future by it alone, and docs/futures.md is drawn from it."""

from collections.abc import Mapping
from enum import Enum


class State(Enum):
    """Where a future stands; the value is what that means."""

    ACCEPTING = "its acceptance is being written; nobody has been told its id, and nothing runs"
    PENDING = "accepted: it is forwarded, and polls wait"
    LANDING = "its outcome is known and being written; nobody has been told it, and polls wait"
    UNDELIVERED = "its outcome is kept; no poll is known to have got it"
    DELIVERED = "its outcome is kept; a poll has possibly got it"
    EVICTED = "its outcome is gone: 404, delivered and evicted"
    EXPIRED = "its outcome is gone: 404, expired, never delivered"
    FORGOTTEN = "nothing is known of it but that its id was issued here: 404, unknown"

    __hash__ = object.__hash__  # members are singletons, and the table is looked up several times an operation


class Event(Enum):
    """What can happen to a future; the value is what that means.

    A re-sent submit, a poll, and a poll whose caller was seen to leave are no events: they change nothing.
    """

    ACCEPTED = "its acceptance is durable"
    WITHDRAWN = "its acceptance cannot be written, or everybody who submitted it left before being told its id"
    RESOLVED = "the forward has ended, well or not"
    LANDED = "its outcome is durable, or cannot be written and is served from memory"
    POSSIBLY_DELIVERED = "an answer with its outcome was sent, and not seen to fail"
    TTL_PASSED = "its time in this state is over"
    FORGET = "its session has ended and its page of ids is old"
    RESTARTED = "the store was opened again, after its end or a crash"

    __hash__ = object.__hash__


class ImpossibleError(Exception):
    """What happened cannot happen to a future in that state: the store is wrong."""


TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.ACCEPTING, Event.ACCEPTED): State.PENDING,
    (State.ACCEPTING, Event.WITHDRAWN): State.FORGOTTEN,
    (State.PENDING, Event.WITHDRAWN): State.FORGOTTEN,
    (State.PENDING, Event.RESOLVED): State.LANDING,
    (State.LANDING, Event.LANDED): State.UNDELIVERED,
    (State.UNDELIVERED, Event.POSSIBLY_DELIVERED): State.DELIVERED,
    (State.DELIVERED, Event.POSSIBLY_DELIVERED): State.DELIVERED,
    (State.EXPIRED, Event.POSSIBLY_DELIVERED): State.EVICTED,
    (State.EVICTED, Event.POSSIBLY_DELIVERED): State.EVICTED,
    (State.FORGOTTEN, Event.POSSIBLY_DELIVERED): State.FORGOTTEN,
    (State.UNDELIVERED, Event.TTL_PASSED): State.EXPIRED,
    (State.DELIVERED, Event.TTL_PASSED): State.EVICTED,
    (State.EVICTED, Event.FORGET): State.FORGOTTEN,
    (State.EXPIRED, Event.FORGET): State.FORGOTTEN,
    (State.PENDING, Event.RESTARTED): State.LANDING,
    (State.UNDELIVERED, Event.RESTARTED): State.UNDELIVERED,
    (State.DELIVERED, Event.RESTARTED): State.DELIVERED,
    (State.EVICTED, Event.RESTARTED): State.EVICTED,
    (State.EXPIRED, Event.RESTARTED): State.EXPIRED,
}
"""Every move there is; a pair that is not here cannot happen. A journal knows what is durable: what was ACCEPTING is
PENDING in it or not there, and what was LANDING is PENDING or UNDELIVERED."""

ALIVE = frozenset({State.PENDING, State.LANDING, State.UNDELIVERED, State.DELIVERED})
KEPT = frozenset({State.UNDELIVERED, State.DELIVERED})


def after(state: State, event: Event) -> State:
    """Where a future stands after that event. Raises ImpossibleError."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise ImpossibleError(f"{event.name} ({event.value}) of a future that is {state.name}: {state.value}") from None


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {State.ACCEPTING.name}: submit"]
    lines += [f"    {old.name} --> {new.name}: {event.name}" for (old, event), new in TRANSITIONS.items()]
    return "\n".join([*lines, f"    {State.FORGOTTEN.name} --> [*]"])
