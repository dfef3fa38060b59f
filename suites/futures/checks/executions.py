"""The router does each operation's work at most once, and none that was refused."""

from collections import Counter

from fake_router.entries import Executed, Received
from suites.checks.words import count_of
from suites.findings import Finding, Proof
from suites.futures.checks.check import must
from suites.futures.record import Kind, Record, Submitted


def at_most_once(record: Record) -> list[Finding]:
    """The ledger proves it, however often the operation was submitted and whatever became of the replies."""
    number_of = {entry.exchange: entry.operation for entry in record.ledger if isinstance(entry, Received)}
    executed = [(number_of.get(entry.exchange), entry.seq) for entry in record.ledger if isinstance(entry, Executed)]
    counts = Counter(number for number, _ in executed)
    submitted = [number for number in record.numbers if any(_submits(fact, number) for fact in record.facts)]
    found = []
    for operation, number in enumerate(record.numbers):
        if counts[number] > 1:
            entries = [seq for one, seq in executed if one == number]
            says = f"operation {operation} was executed {counts[number]} times"
            found.append(AT_MOST_ONCE.fails(says, entries, operation))
    if found or not submitted:
        return found
    return [AT_MOST_ONCE.passes(f"{count_of(len(submitted), 'operation')}, {count_of(len(executed), 'execution')}")]


def _submits(fact: object, number: int) -> bool:
    return isinstance(fact, Submitted) and fact.number == number


AT_MOST_ONCE = must(
    "at-most-once",
    "However often an operation is submitted, its work is done at most once.",
    at_most_once,
    proof=Proof.LEDGER,
)


def refused_runs_nothing(record: Record) -> list[Finding]:
    """A submit that was refused sends nothing: its content never reaches the router."""
    arrived = {entry.operation: entry.seq for entry in record.ledger if isinstance(entry, Received)}
    taken = {
        fact.number
        for fact in record.facts
        if isinstance(fact, Submitted) and (fact.answer is None or fact.answer.kind in (Kind.TAKEN, Kind.NOTHING))
    }
    refused = [
        fact
        for fact in record.facts
        if isinstance(fact, Submitted) and fact.number not in taken and fact.answer is not None
    ]
    found = [
        REFUSED_RUNS_NOTHING.fails(
            f"step {fact.step}: the submit was answered {fact.answer.status}, and its content reached the router",
            [arrived[fact.number]],
            fact.operation,
        )
        for fact in refused
        if fact.answer is not None and fact.number in arrived
    ]
    if found or not refused:
        return found
    return [REFUSED_RUNS_NOTHING.passes(f"{count_of(len(refused), 'refused submit')}")]


REFUSED_RUNS_NOTHING = must(
    "refused-runs-nothing",
    "A submit that was refused never reaches the router.",
    refused_runs_nothing,
    proof=Proof.LEDGER,
)
