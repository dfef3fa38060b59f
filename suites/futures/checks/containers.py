"""What is done to the container between the server and its routers was done; and afterwards all is well again."""

from fake_router.entries import Received, Striking
from faults.disturbance import Disturbing
from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.checks.seen import seen_in
from suites.futures.lives import each_moment
from suites.futures.record import Calmed, Kind, Record, Submitted

_NOBODY_LISTENS = frozenset({Disturbing.KILL, Disturbing.STOP, Disturbing.MEMORY})


def done(record: Record) -> list[Finding]:
    """The engine's own word: what it does not say proves nothing, whatever else held."""
    calmed = [fact for fact in record.facts if isinstance(fact, Calmed)]
    unseen = [f"step {fact.step}: the engine does not say that {fact.how} lasted" for fact in calmed if not fact.seen]
    if unseen or not calmed:
        return [DONE.cannot_know(says) for says in unseen]
    return [DONE.passes(", ".join(fact.how for fact in calmed))]


DONE = must(
    "container-struck",
    "What was done to the container of the router was so until it was undone, by the word of its engine.",
    done,
    needs_container=True,
)


def served_again(record: Record) -> list[Finding]:
    """What is submitted when the container is healthy again, and meets nothing else, has a result."""
    fresh = _submitted_afterwards(record)
    number_of = {entry.exchange: entry.operation for entry in record.ledger if isinstance(entry, Received)}
    spoilt = {number_of.get(entry.exchange or 0) for entry in record.ledger if isinstance(entry, Striking)}
    judged = [
        seen
        for seen in seen_in(record)
        if seen.operation in fresh
        and record.numbers[seen.operation] not in spoilt
        and seen.answer.kind in (Kind.RESULT, Kind.FAILED)
    ]
    found = [
        SERVED_AGAIN.fails(
            f"{seen.where} was told that it failed ({seen.answer.says}); it was submitted when all was healthy again",
            (),
            seen.operation,
        )
        for seen in judged
        if seen.answer.kind is Kind.FAILED
    ]
    if found or not judged:
        return found
    return [SERVED_AGAIN.passes(count_of(len(judged), "poll"))]


def _submitted_afterwards(record: Record) -> set[int]:
    """The operations that came when the container was healthy again, but for those that their server's end met."""
    calmed, fresh = False, set()
    for fact, lives in each_moment(record.terms, record.facts):
        if isinstance(fact, Calmed):
            calmed = True
        elif isinstance(fact, Submitted) and not fact.again and calmed and lives.disturbing is None:
            fresh.add(fact.operation)
        fresh -= {number for number, life in lives.operations.items() if life.interrupted or life.struck}
    return fresh


SERVED_AGAIN = must(
    "served-again",
    "What is submitted when the container of the router is healthy again, and meets no fault, has a result.",
    served_again,
    needs_container=True,
)


def safe_is_told(record: Record) -> list[Finding]:
    """What was submitted while nobody listened, and never came to a router, may be submitted anew: it is told so."""
    refused = _submitted_to_nobody(record)
    judged = [seen for seen in seen_in(record) if seen.operation in refused and seen.answer.kind is Kind.FAILED]
    found = [
        SAFE_IS_TOLD.fails(
            f"{seen.where} was told executed {seen.answer.executed!r}; nobody had listened when it was submitted",
            (),
            seen.operation,
        )
        for seen in judged
        if seen.answer.executed not in ("no", "")
    ]
    if found or not judged:
        return found
    return [SAFE_IS_TOLD.passes(count_of(len(judged), "poll"))]


def _submitted_to_nobody(record: Record) -> set[int]:
    """The operations that came first while that container did not run, and of which no router has seen anything."""
    arrived = {entry.operation for entry in record.ledger if isinstance(entry, Received)}
    refused = set()
    for fact, lives in each_moment(record.terms, record.facts):
        if isinstance(fact, Submitted) and not fact.again and lives.disturbing in _NOBODY_LISTENS:
            refused.add(fact.operation)
    return {operation for operation in refused if record.numbers[operation] not in arrived}


SAFE_IS_TOLD = must(
    "safe-is-told",
    "What was submitted while nobody listened, and has failed, is said not to have run: it may be submitted anew.",
    safe_is_told,
    needs_container=True,
)
