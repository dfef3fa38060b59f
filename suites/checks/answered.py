"""Every operation gets an answer, as the subject promises."""

from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.history import Arrival
from suites.run import Promise, Run

_NO_ANSWER = {
    Arrival.HUNG: "no answer before the run's ceiling",
    Arrival.NOTHING: "its connection ended before any byte of an answer",
    Arrival.GARBLED: "bytes that are no HTTP response",
    Arrival.CUT: "an answer that was cut",
}


def answered(run: Run) -> list[Finding]:
    """A proxy that promises bytes alone may show a hang to its caller, or a cut; what hangs has proved nothing.

    Nothing is promised to a caller that has left; many servers take one that has only half-closed for gone (uvicorn
    does).
    """
    arrived = {outcome.operation: Arrival.LEFT if outcome.left else outcome.arrival for outcome in run.history}
    found = []
    for operation in run.operations:
        arrival = arrived.get(operation)
        if arrival is None:
            found.append(CHECK.cannot_know(f"operation {operation} has no outcome in the history", (), operation))
        elif run.subject.promises is not Promise.TRANSPARENT and arrival in _NO_ANSWER:
            found.append(CHECK.fails(f"operation {operation} got {_NO_ANSWER[arrival]}", (), operation))
        elif arrival is Arrival.HUNG:
            says = f"operation {operation} got {_NO_ANSWER[arrival]}, which the subject does not promise"
            found.append(CHECK.cannot_know(says, (), operation))
    if found or not run.operations:
        return found
    return [CHECK.passes(f"{count_of(len(run.operations), 'operation')}, each with its answer")]


CHECK = Check(
    name="answered",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="Every operation gets an answer: it does not hang, and no connection is dropped in its place.",
    judge=answered,
)
