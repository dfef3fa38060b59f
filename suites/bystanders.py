"""Connections that a toxic ended beside the one that carried an operation: probes, and what a pool had open."""

from collections.abc import Sequence

from msgspec.structs import replace

from fake_router.entries import Received
from faults.poison import Poison
from suites.attempts import Attempt
from suites.run import Run

LEAST_HEAD_BYTES = 80  # of a POST with a Host, a type and a length, short of what a limit lets pass of it


def without_bystanders(attempts: Sequence[Attempt], run: Run) -> list[Attempt]:
    """The attempts, where so many requests may have been lost on a way as connections were struck there.

    Toxiproxy counts what is lost for all connections together. Where that is less than the body of a plain operation
    for each of them, some carried none, and nobody can tell which: then the first stands for all, and for one or more.
    """
    bodies = [e.body_bytes for e in run.ledger if isinstance(e, Received) and e.operation in run.fresh]
    least = LEAST_HEAD_BYTES + min(bodies, default=0)
    unread = [attempt for attempt in attempts if _is_unread(attempt)]
    kept = [attempt for attempt in attempts if not _is_unread(attempt)]
    for upstream in {attempt.upstream for attempt in unread}:
        there = sorted((one for one in unread if one.upstream == upstream), key=lambda one: one.start)
        lost_bytes = there[0].strikes[0].lost_bytes
        if lost_bytes >= least * len(there):
            kept += there
        else:
            kept.append(replace(there[0], exactly_one=False, entries=tuple(e for one in there for e in one.entries)))
    return sorted(kept, key=lambda attempt: attempt.start)


def _is_unread(attempt: Attempt) -> bool:
    """A connection on whose way the request was lost, by Toxiproxy's count."""
    strike = attempt.strikes[0] if attempt.strikes else None
    return (
        strike is not None and strike.lost_bytes > 0 and isinstance(strike.met.act, Poison) and attempt.received is None
    )
