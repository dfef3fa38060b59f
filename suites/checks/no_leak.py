"""Faults leave no sockets behind."""

from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def no_leak(run: Run) -> list[Finding]:
    """The yardstick is the same subject in good health at the same concurrency; what is beyond that is lost if it grows
    when the same happens again, and else kept by a pool that health had no need of. Of a subject that runs elsewhere
    nothing can be counted, and nothing is judged.
    """
    if run.sockets.elsewhere:
        return []
    warm, healed = run.sockets.warm, run.sockets.healed
    if warm is None or healed is None:
        return [CHECK.cannot_know(f"sockets were not measured (warm: {warm!r}, after healing: {healed!r})")]
    says = f"{count_of(healed, 'socket')} after healing, {warm} after a healthy warm-up"
    again = run.sockets.again
    if not run.sockets.beyond_health:
        return [CHECK.passes(says)]
    if again and max(again) <= healed:
        return [CHECK.passes(f"{says}, and no more when the same had happened again: kept for use")]
    return [CHECK.fails(f"{says}, {again[-1]} when the same had happened again" if again else says)]


CHECK = Check(
    name="no-leak",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="After healing, the subject holds no more sockets than after a healthy warm-up, or keeps them for use.",
    judge=no_leak,
)
