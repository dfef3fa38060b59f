"""After a restart: what was taken on is known where the store has outlived its process, and is never sent again."""

from fake_router.entries import Marked, Received
from suites.checks.words import count_of
from suites.findings import Finding, Proof
from suites.futures.checks.check import must
from suites.futures.checks.seen import Seen, seen_in
from suites.futures.life import State
from suites.futures.lives import each_moment
from suites.futures.record import Asked, Began, Kind, Record, Submitted

RESTARTED = "restarted"  # the mark in the router's ledger

_HONEST = frozenset({"unknown", "no", "yes"})


def never_sent_again(record: Record) -> list[Finding]:
    """What the router had received before is not sent to it by the process that comes after."""
    before: dict[int, int] = {}
    now: dict[int, int] = {}
    restarts, found = 0, []
    for entry in record.ledger:
        if isinstance(entry, Marked) and entry.mark == RESTARTED:
            restarts += 1
            before |= now
            now = {}
        elif isinstance(entry, Received) and entry.operation in record.numbers:
            number = entry.operation
            assert number is not None
            now[number] = entry.seq
            if number in before:
                operation = record.numbers.index(number)
                says = f"operation {operation} was sent again after a restart{_told_to(record, operation)}"
                found.append(NEVER_SENT_AGAIN.fails(says, [before[number], entry.seq], operation))
    if found or not restarts or not before:
        return found
    return [NEVER_SENT_AGAIN.passes(f"{count_of(len(before), 'operation')} over {count_of(restarts, 'restart')}")]


def _told_to(record: Record, operation: int) -> str:
    """Whether its caller's submit came again too, as the SDK sends it, under the key that says that it is the same."""
    after = False
    for fact in record.facts:
        after = after or isinstance(fact, Began)
        if after and isinstance(fact, Submitted) and fact.operation == operation:
            return ", when its submit had come again under the same key"
    return ", and nobody had submitted it again"


NEVER_SENT_AGAIN = must(
    "never-sent-again",
    "What was sent to the router before a restart is never sent again after it.",
    never_sent_again,
    proof=Proof.LEDGER,
    needs_restart=True,
)


def unknown_after_crash(record: Record) -> list[Finding]:
    """It was in flight when its process ended, and is known to the store that outlived it. What the process itself has
    answered before it ended is no word about that.
    """
    after = _asked_after(record)
    judged = [
        seen for seen in seen_in(record) if seen.poll in after and seen.state in (State.UNDELIVERED, State.DELIVERED)
    ]
    found = [
        UNKNOWN_AFTER_CRASH.fails(f"{seen.where} {says}", (), seen.operation)
        for seen in judged
        if (says := _claims_too_much(record, seen))
    ]
    if found or not judged:
        return found
    return [UNKNOWN_AFTER_CRASH.passes(count_of(len(judged), "poll"))]


def _asked_after(record: Record) -> set[int]:
    """The polls for what was interrupted, made when another process had begun on the store that knows it."""
    interrupted: set[int] = set()
    polls: set[int] = set()
    for fact, lives in each_moment(record.terms, record.facts):
        if isinstance(fact, Began):
            interrupted = {number for number, life in lives.operations.items() if fact.kept and life.interrupted}
        elif isinstance(fact, Asked) and fact.operation in interrupted:
            polls.add(fact.poll)
    return polls


def _claims_too_much(record: Record, seen: Seen) -> str | None:
    assert seen.operation is not None
    if seen.answer.kind is not Kind.FAILED:
        return f"was answered {seen.answer.kind}: it was in flight when its server ended; expected a failure"
    sent = any(
        isinstance(entry, Received) and entry.operation == record.numbers[seen.operation] for entry in record.ledger
    )
    if sent and seen.answer.executed == "no":
        return "was told that it did not run; the router had received it"
    if seen.answer.executed and seen.answer.executed not in _HONEST:
        return f"was told executed {seen.answer.executed!r}; expected one of {', '.join(sorted(_HONEST))}"
    return None


UNKNOWN_AFTER_CRASH = must(
    "unknown-after-crash",
    "What was in flight when its server ended has failed, and may have run.",
    unknown_after_crash,
    needs_store=True,
)


def nothing_forgotten(record: Record) -> list[Finding]:
    """Every operation that was taken is known after a restart on the same store."""
    judged, found = 0, []
    kept: set[int] = set()
    for fact, lives in each_moment(record.terms, record.facts):
        if isinstance(fact, Began):
            known = {number for number, life in lives.operations.items() if life.first_id and not life.forgotten}
            kept = (kept | known) if fact.kept else set()
    for seen in seen_in(record):
        if seen.operation in kept and seen.state in (State.UNDELIVERED, State.DELIVERED):
            judged += 1
            if seen.answer.kind is Kind.GONE:
                says = f"{seen.where} was answered 404 ({seen.answer.says}): it was taken before the restart"
                found.append(NOTHING_FORGOTTEN.fails(says, (), seen.operation))
    if found or not judged:
        return found
    return [NOTHING_FORGOTTEN.passes(count_of(judged, "poll"))]


NOTHING_FORGOTTEN = must(
    "nothing-forgotten",
    "What was taken is known after a restart, where the store outlives its process.",
    nothing_forgotten,
    needs_store=True,
)
