"""What a check says: a verdict, the claim that it rests on, and the entries that show it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum

REACH = "reach"  # the must that is open where what was not run counts as not proved (--strict)


class Verdict(IntEnum):
    """Worst wins."""

    PASS = 0
    UNKNOWN = 1
    FAIL = 2


class Claim(StrEnum):
    """What kind of claim a finding is about."""

    MUST = "must"  # the norm, or what the subject promises: broken means FAIL
    SHOULD = "should"  # a safe retry not made, a poor error: a warning, never an exit code
    TELLS = "tells"  # how it behaves where nothing is prescribed: recorded, never judged


class Proof(StrEnum):
    """What a finding rests on."""

    LEDGER = "ledger"  # the ledger itself proves it, in whatever company it was seen
    CAUSE = "cause"  # it is about cause or timing: it must come back alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's word on one run. `says` is what the run showed; `entries` are seqs of the ledger."""

    check: str
    claim: Claim
    verdict: Verdict
    says: str
    entries: tuple[int, ...] = ()
    operation: int | None = None
    proof: Proof = Proof.LEDGER


def worst(findings: Iterable[Finding]) -> Verdict:
    """The worst verdict of the musts; PASS when there are none."""
    return max((f.verdict for f in findings if f.claim is Claim.MUST), default=Verdict.PASS)
