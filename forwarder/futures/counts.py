"""What a store holds and has let go, in numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """evicted and expired count up for as long as the process lives; all else is of now.

    in_flight: accepted, not landed. undelivered, delivered: outcomes that are kept. evicted: outcomes gone after they
    were possibly delivered. expired: gone, never delivered. stored_bytes: held and reserved, as Limits.max_bytes
    bounds them. unwritten: outcomes that the journal could not write; they are served from memory.
    """

    in_flight: int
    undelivered: int
    delivered: int
    evicted: int
    expired: int
    stored_bytes: int
    sessions: int
    keys: int
    unwritten: int
