"""Every operation gets an answer, as the subject promises."""

from suites.accounts import Account, accounts_of
from suites.checks.check import Check
from suites.checks.results import ended_by_plan, was_sent_well
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.history import Arrival, Kind, Outcome
from suites.run import Promise, Run

_NO_ANSWER = {
    Arrival.HUNG: "no answer before the run's ceiling",
    Arrival.NOTHING: "its connection ended before any byte of an answer",
    Arrival.GARBLED: "bytes that are no HTTP response",
    Arrival.CUT: "an answer that was cut",
}


def answered(run: Run) -> list[Finding]:
    """A proxy that promises bytes alone may show a hang to its caller, or a cut; what hangs has proved nothing. Of a
    stream that has begun, a subject can show no more than a cut when it is broken behind it; but one that the router
    sends well, and is never silent for long, arrives: there is no deadline on the whole.

    Nothing is promised to a caller that has left, unless it came back; many servers take one that has only half-closed
    for gone (uvicorn does). Nor is anything by one whose container was ended under it.
    """
    accounts = accounts_of(run)
    outcomes = {outcome.operation: outcome for outcome in run.history}
    found, struck = [], 0
    for operation in run.operations:
        outcome = outcomes.get(operation)
        if outcome is None:
            found.append(CHECK.cannot_know(f"operation {operation} has no outcome in the history", (), operation))
        elif ended_by_plan(accounts.of(operation)):
            struck += 1
        elif not outcome.left or outcome.came_back:
            finding = _judge(accounts.of(operation), outcome, run.subject.promises)
            found += [finding] if finding else []
    if found or len(run.operations) == struck:
        return found
    return [CHECK.passes(f"{count_of(len(run.operations) - struck, 'operation')}, each with its answer")]


def _judge(account: Account, outcome: Outcome, promises: Promise) -> Finding | None:
    got = f"operation {outcome.operation} got {_NO_ANSWER.get(outcome.arrival, 'no success')}"
    last = account.attempts[-1] if account.attempts else None
    if outcome.form.stream and outcome.kind is not Kind.OK and last is not None and was_sent_well(last):
        says = f"{got}, though the router sent its stream well ({name_of(last)})"
        return CHECK.fails(says, last.entries, outcome.operation)
    if outcome.arrival not in _NO_ANSWER or _is_visible_cut(outcome):
        return None
    if promises is not Promise.TRANSPARENT:
        return CHECK.fails(got, (), outcome.operation)
    if outcome.arrival is Arrival.HUNG:
        return CHECK.cannot_know(f"{got}, which the subject does not promise", (), outcome.operation)
    return None


def _is_visible_cut(outcome: Outcome) -> bool:
    begun = outcome.status is not None and 200 <= outcome.status < 300
    return outcome.form.stream and begun and outcome.arrival is Arrival.CUT


CHECK = Check(
    name="answered",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant=(
        "Every operation gets an answer: it does not hang, and no connection is dropped in its place; a stream that "
        "the router sends well arrives."
    ),
    judge=answered,
)
