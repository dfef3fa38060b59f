"""No fault kills the subject."""

from suites.checks.check import Check
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def survives(run: Run) -> list[Finding]:
    """A subject's process ends when it is told to, and not before."""
    if run.died is not None:
        return [CHECK.fails(f"the subject's process ended by itself: {run.died}")]
    return [CHECK.passes("the subject lived to the end of the run")]


CHECK = Check(
    name="survives",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="The subject outlives every fault.",
    judge=survives,
)
