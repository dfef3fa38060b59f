"""Faults leave no sockets behind."""

from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def no_leak(run: Run) -> list[Finding]:
    """The yardstick is the same subject in good health at the same concurrency. Of a subject that runs elsewhere
    nothing can be counted, and nothing is judged.
    """
    if run.sockets.elsewhere:
        return []
    warm, healed = run.sockets.warm, run.sockets.healed
    if warm is None or healed is None:
        return [CHECK.cannot_know(f"sockets were not measured (warm: {warm!r}, after healing: {healed!r})")]
    says = f"{count_of(healed, 'socket')} after healing, {warm} after a healthy warm-up"
    return [CHECK.fails(says) if healed > warm else CHECK.passes(says)]


CHECK = Check(
    name="no-leak",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="After healing, the subject holds at most as many sockets as after a healthy warm-up.",
    judge=no_leak,
)
