"""What an operation came to is what the router made of it: a whole answer is no failure, and a failure does not lie."""

from fake_router.entries import Executed, Received, Replied, Replying, Striking
from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.checks.seen import seen_in
from suites.futures.lives import lives_after
from suites.futures.record import Kind, Record


def result_kept(record: Record) -> list[Finding]:
    """The router did the work and sent all of a healthy answer to a server that was there, with nothing between them
    that was struck meanwhile: that is no failure.
    """
    lives = lives_after(record.terms, record.facts)
    healthy = _healthy(record)
    judged = [
        seen
        for seen in (seen_in(record) if record.terms.direct else ())
        if seen.operation is not None
        and record.numbers[seen.operation] in healthy
        and not lives.operations[seen.operation].interrupted
        and not lives.operations[seen.operation].struck
        and seen.answer.kind in (Kind.RESULT, Kind.FAILED)
    ]
    found = [
        RESULT_KEPT.fails(
            f"{seen.where} was told that it failed ({seen.answer.says}); the router had answered well",
            [healthy[record.numbers[seen.operation]]],
            seen.operation,
        )
        for seen in judged
        if seen.answer.kind is Kind.FAILED and seen.operation is not None
    ]
    if found or not judged:
        return found
    return [RESULT_KEPT.passes(count_of(len(judged), "poll"))]


def _healthy(record: Record) -> dict[int, int]:
    """The operations whose last exchange nothing struck, and which was answered whole: the seq that says so."""
    struck = {entry.exchange for entry in record.ledger if isinstance(entry, Striking)}
    of: dict[int, int] = {}
    statuses: dict[int, int] = {}
    found: dict[int, int] = {}
    for entry in record.ledger:
        match entry:
            case Received(operation=int() as operation):
                of[entry.exchange] = operation
                found.pop(operation, None)
            case Replying():
                statuses[entry.exchange] = entry.status
            case Replied(whole=True) if entry.exchange in of and entry.exchange not in struck:
                if statuses.get(entry.exchange) == 200:
                    found[of[entry.exchange]] = entry.seq
            case _:
                pass
    return found


RESULT_KEPT = must(
    "result-kept",
    "What the router has answered well is a result, not a failure.",
    result_kept,
)


def honest_failures(record: Record) -> list[Finding]:
    """ "Not executed" is said only of what was not."""
    number_of = {entry.exchange: entry.operation for entry in record.ledger if isinstance(entry, Received)}
    ran = {number_of.get(entry.exchange): entry.seq for entry in record.ledger if isinstance(entry, Executed)}
    judged = [seen for seen in seen_in(record) if seen.operation is not None and seen.answer.kind is Kind.FAILED]
    found = [
        HONEST_FAILURES.fails(
            f"{seen.where} was told that it did not run, and it did",
            [ran[record.numbers[seen.operation]]],
            seen.operation,
        )
        for seen in judged
        if seen.operation is not None and seen.answer.executed == "no" and record.numbers[seen.operation] in ran
    ]
    if found or not judged:
        return found
    return [HONEST_FAILURES.passes(count_of(len(judged), "failure"))]


HONEST_FAILURES = must(
    "honest-failures",
    "A failed operation is said not to have run only where it did not.",
    honest_failures,
)
