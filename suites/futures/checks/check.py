"""A check of futures: one property of a script that was lived through."""

from collections.abc import Callable
from dataclasses import dataclass

from suites.checks.check import Property
from suites.findings import Claim, Finding, Proof
from suites.futures.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class FuturesCheck(Property):
    """One property of a record. `judge` is pure, and returns nothing where the record holds nothing that the property
    is about. needs_clock and the like: it is only shown where the suites have the server's clock, its
    process, a store that outlives that, the say how much is kept, or a container between it and its routers.
    """

    judge: Callable[[Record], list[Finding]]
    needs_clock: bool = False
    needs_restart: bool = False
    needs_store: bool = False
    needs_room: bool = False
    needs_container: bool = False


def must(
    name: str,
    invariant: str,
    judge: Callable[[Record], list[Finding]],
    *,
    proof: Proof = Proof.CAUSE,
    needs_clock: bool = False,
    needs_restart: bool = False,
    needs_store: bool = False,
    needs_room: bool = False,
    needs_container: bool = False,
) -> FuturesCheck:
    """A property whose breach is a FAIL."""
    return FuturesCheck(
        name=name,
        claim=Claim.MUST,
        proof=proof,
        invariant=invariant,
        judge=judge,
        needs_clock=needs_clock,
        needs_restart=needs_restart,
        needs_store=needs_store,
        needs_room=needs_room,
        needs_container=needs_container,
    )
