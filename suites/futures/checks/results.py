"""All pollers of an operation get the same bytes, and nobody gets another's."""

from fake_router.entries import Executed, Received, Striking
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.vocabulary import Content
from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.checks.seen import results_in, seen_in
from suites.futures.record import Kind, Record


def same_bytes(record: Record) -> list[Finding]:
    """Whoever asks, however often, before and after a restart: one operation has one outcome, in each way in which it
    is written.
    """
    by_operation: dict[tuple[int, bool], list[tuple[str, bytes | str]]] = {}
    for seen in seen_in(record):
        if seen.operation is None:
            continue
        if seen.answer.kind is Kind.RESULT:
            by_operation.setdefault((seen.operation, seen.answer.json), []).append((seen.where, seen.answer.body))
        elif seen.answer.kind is Kind.FAILED:
            for json in (False, True):
                by_operation.setdefault((seen.operation, json), []).append((seen.where, seen.answer.says))
    found, judged = [], 0
    for (operation, _), outcomes in by_operation.items():
        first_where, first = outcomes[0]
        other = next((where for where, outcome in outcomes if outcome != first), None)
        judged += len(outcomes) > 1
        if other is not None:
            found.append(SAME_BYTES.fails(f"{other} got another outcome than {first_where}", (), operation))
    if found or not judged:
        return found
    return [SAME_BYTES.passes(f"{count_of(judged, 'operation')} with several pollers")]


SAME_BYTES = must("same-bytes", "All pollers of an operation get identical bytes.", same_bytes)


def own_result(record: Record) -> list[Finding]:
    """The tokens of a result name operation and execution: both must be of the ledger."""
    number_of = {entry.exchange: entry.operation for entry in record.ledger if isinstance(entry, Received)}
    ran = {
        (number_of.get(entry.exchange), entry.execution): entry.seq
        for entry in record.ledger
        if isinstance(entry, Executed)
    }
    found, judged = [], 0
    spoilt = _written_wrongly(record)
    for operation, results in results_in(record).items():
        number = record.numbers[operation]
        for seen in results if number not in spoilt else ():
            judged += 1
            answer = seen.answer
            if answer.operation != number:
                whose = f"number {answer.operation}" if answer.operation else "nobody"
                found.append(OWN_RESULT.fails(f"{seen.where} got the result of {whose}", (), operation))
            elif (number, answer.execution) not in ran:
                says = f"{seen.where} got execution {answer.execution}, which was none of this operation"
                found.append(OWN_RESULT.fails(says, (), operation))
    if found or not judged:
        return found
    return [OWN_RESULT.passes(count_of(judged, "result"))]


def _written_wrongly(record: Record) -> set[int | None]:
    """The operations to which the router itself gave something else than their result: nobody mixed those up."""
    return {
        entry.operation
        for entry in record.ledger
        if isinstance(entry, Striking)
        and isinstance(act := fault_named(entry.fault).act, Answer)
        and act.content is not Content.RESULT
    }


OWN_RESULT = must("own-result", "Nobody gets another operation's result.", own_result)
