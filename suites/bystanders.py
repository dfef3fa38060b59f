"""Connections that a toxic ended beside the one that carried an operation: probes, and what a pool had open."""

from collections.abc import Sequence

from fake_router.entries import Sighted
from faults.poison import Poison
from suites.attempts import Attempt
from suites.run import Run


def without_bystanders(attempts: Sequence[Attempt], run: Run) -> list[Attempt]:
    """The attempts, where on each way as many requests were lost as a packet witness saw there.

    The router sees connections that bring nothing, and Toxiproxy counts bytes; neither can tell a request from a probe.
    Where nobody saw what was sent, one connection stands for the only operation in flight; of several the first
    stands for all, and for one or more.
    """
    unread = [attempt for attempt in attempts if _is_unread(attempt)]
    kept = [attempt for attempt in attempts if not _is_unread(attempt)]
    for upstream in {attempt.upstream for attempt in unread}:
        there = sorted((one for one in unread if one.upstream == upstream), key=lambda one: one.start)
        kept += _sendings(there, [e for e in run.ledger if isinstance(e, Sighted) and e.upstream == upstream])
    return sorted(kept, key=lambda attempt: attempt.start)


def _sendings(there: list[Attempt], sighted: list[Sighted]) -> list[Attempt]:
    """Those of them that carried a request, as far as it was seen. Which of them did is not: the first."""
    requests = [entry for entry in sighted if not entry.probe]
    count = len(requests) if sighted else len(there)
    known = count == 1 or (bool(sighted) and all(entry.operation is not None for entry in requests))
    if count == len(there) and known:
        return there
    beside = [seq for one in there[1:] for seq in one.entries] + [entry.seq for entry in sighted]
    first = there[0].noted(*beside, exactly_one=known)
    return [first, *there[1:count]][:count] if known else [first]


def _is_unread(attempt: Attempt) -> bool:
    """A connection on whose way the request was lost, by Toxiproxy's count."""
    strike = attempt.strikes[0] if attempt.strikes else None
    return (
        strike is not None and strike.lost_bytes > 0 and isinstance(strike.met.act, Poison) and attempt.received is None
    )
