"""After healing a fresh operation succeeds."""

from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.history import Kind
from suites.run import Run


def heals(run: Run) -> list[Finding]:
    """Faults may cost operations, but no pool stays dead when they are over."""
    if not run.fresh:
        return [CHECK.cannot_know("no fresh operation was sent after healing")]
    outcomes = {outcome.operation: outcome for outcome in run.history}
    found = []
    for operation in run.fresh:
        outcome = outcomes.get(operation)
        if outcome is None:
            says = f"fresh operation {operation} has no outcome in the history"
            found.append(CHECK.cannot_know(says, (), operation))
        elif outcome.kind is not Kind.OK:
            status = "" if outcome.status is None else f" with status {outcome.status}"
            end = f"{outcome.kind.value!r}{status} ({outcome.arrival})"
            says = f"after healing, fresh operation {operation} ended {end}"
            found.append(CHECK.fails(says, (), operation))
    return found or [CHECK.passes(f"{count_of(len(run.fresh), 'fresh operation')} succeeded after healing")]


CHECK = Check(
    name="heals",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="After healing, a fresh operation succeeds: no pool stays dead.",
    judge=heals,
)
