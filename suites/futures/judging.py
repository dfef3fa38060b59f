"""From a record to its verdict. Pure: it opens nothing, starts nothing, and never raises for what a record holds."""

from suites.findings import Claim, Finding, Proof, Verdict
from suites.futures.checks import CHECKS
from suites.futures.checks.check import FuturesCheck
from suites.futures.record import Record
from suites.judge import Judgement, judgement_of


def findings_in(record: Record) -> tuple[Finding, ...]:
    """What every check says of it."""
    return tuple(finding for check in CHECKS for finding in _findings_of(check, record))


def judge_record(record: Record) -> Judgement:
    """The verdict of every check on it."""
    return judgement_of(findings_in(record))


def invariant_of(check: str) -> str:
    """The sentence that a report shows for that check; empty for one that is not here."""
    return next((one.invariant for one in CHECKS if one.name == check), "")


def _findings_of(check: FuturesCheck, record: Record) -> list[Finding]:
    try:
        return check.judge(record)
    except Exception as error:  # noqa: BLE001  # whatever a check raises, the other checks still have their say
        says = f"the check crashed: {error!r}"
        return [
            Finding(check=check.name, claim=Claim.MUST, verdict=Verdict.UNKNOWN, says=says, proof=Proof.CAUSE),
        ]
