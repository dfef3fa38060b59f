"""Ids that carry the identity of their store: one of another store is never taken for one of ours."""

import secrets
from dataclasses import dataclass

_BITS = 64
_MOST_DIGITS = 39  # of 2**128 - 1


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """Who issued an id: 64 random bits, drawn once in the life of a store. Raises ValueError for another number.

    A request id is a decimal text, since the protocol refuses one that is no number: the identity, then a counter
    that is never used twice.
    """

    number: int

    def __post_init__(self) -> None:
        if not 1 << (_BITS - 1) <= self.number < 1 << _BITS:
            raise ValueError(f"identity {self.number!r}; expected a number of exactly {_BITS} bits")

    @classmethod
    def fresh(cls) -> "StoreIdentity":
        """One that no other store has."""
        return cls(secrets.randbits(_BITS) | 1 << (_BITS - 1))

    def id_of(self, counter: int) -> str:
        """The request id of the operation with that counter."""
        return str(self.number << _BITS | counter)

    def counter_of(self, request_id: str) -> int | None:
        """The counter in an id; None: it is not of this store, or not written as this store writes it."""
        if not (request_id.isascii() and request_id.isdecimal()) or len(request_id) > _MOST_DIGITS:
            return None
        number = int(request_id)
        if number >> _BITS != self.number or request_id[0] == "0":
            return None
        return number & (1 << _BITS) - 1


def fresh_number() -> int:
    """63 random bits: the number of a sampling session, which is never used again."""
    return secrets.randbits(63)


def fresh_session_id() -> str:
    """The id of a session; it has no ':', which the protocol forbids."""
    return f"session-{secrets.token_hex(16)}"
