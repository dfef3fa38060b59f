"""A soak: what the subject holds in the last quarter of it is what it held in the one before."""

from collections.abc import Sequence
from statistics import median

from suites.findings import Claim, Finding, Verdict
from suites.load.found import Found, Role, Sample, used_by
from suites.run import Promise

SOCKETS_ROOM = 16  # more than before that are no leak: those that are on their way
ROOM = 1.1  # so much more than before is no growth
KEPT_S = 300.0  # a subject that promises futures keeps a result so long after it was retrieved
LEAST_SAMPLES = 4  # in a quarter


def flat(found: Found) -> list[Finding]:
    """Of a load that lasted for a time that was asked for; nothing of any other, nor of a ramp, which grows."""
    load, known = found.load, any(member.role is Role.SUBJECT for member in found.processes)
    if load.for_s is None or load.stairs > 1 or not known:
        return []
    before, last = _quarters(found)
    if min(len(before), len(last)) < LEAST_SAMPLES:
        says = (
            f"{len(found.samples)} looks in {found.load.for_s:g} s; expected {4 * LEAST_SAMPLES}: --for a longer time"
        )
        return [Finding(check="flat", claim=Claim.MUST, verdict=Verdict.UNKNOWN, says=says)]
    return [_sockets(found, before, last), _memory(found, before, last)]


def _quarters(found: Found) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """The third and the last, of the time in which operations were begun."""
    assert found.load.for_s is not None
    begin_ns = found.samples[0].at_ns if found.samples else 0
    at_s = [((sample.at_ns - begin_ns) / 1e9 / found.load.for_s, sample) for sample in found.samples]
    third = [sample for share, sample in at_s if 0.5 <= share < 0.75]
    return third, [sample for share, sample in at_s if 0.75 <= share <= 1]


def _sockets(found: Found, before: Sequence[Sample], last: Sequence[Sample]) -> Finding:
    held, now = (max(_held(found, sample)[0] for sample in some) for some in (before, last))
    fits = now <= ROOM * held + SOCKETS_ROOM
    says = f"{now:,} sockets at most in the last quarter, {held:,} in the one before"
    return Finding(check="flat-sockets", claim=Claim.MUST, verdict=Verdict.PASS if fits else Verdict.FAIL, says=says)


def _memory(found: Found, before: Sequence[Sample], last: Sequence[Sample]) -> Finding:
    held, now = (median(_held(found, sample)[1] for sample in some) for some in (before, last))
    says = f"{now / 1024**2:,.1f} MiB in the last quarter, {held / 1024**2:,.1f} MiB in the one before"
    assert found.load.for_s is not None
    if found.promises is Promise.FUTURES and found.load.for_s < 2 * KEPT_S:
        says += f"; not judged: results are kept for {KEPT_S:g} s, so that this is known of a load of twice that time"
        return Finding(check="flat-memory", claim=Claim.TELLS, verdict=Verdict.PASS, says=says)
    verdict = Verdict.PASS if now <= ROOM * held else Verdict.FAIL
    return Finding(check="flat-memory", claim=Claim.MUST, verdict=verdict, says=says)


def _held(found: Found, sample: Sample) -> tuple[int, int]:
    uses = used_by(found, Role.SUBJECT, sample)
    return sum(use.sockets for use in uses), sum(use.resident_bytes for use in uses)
