"""A failure does not lie about having run."""

from suites.accounts import accounts_of
from suites.checks.check import Check
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.history import Kind
from suites.run import Run


def honest_failure(run: Run) -> list[Finding]:
    """Every outcome that claims "not executed" is held against all that was ever accepted, late entries included."""
    accounts = accounts_of(run)
    claims = [outcome for outcome in run.history if outcome.kind is Kind.FAILED]
    found = []
    for outcome in claims:
        account = accounts.of(outcome.operation)
        if accepted := account.accepted:
            where = " and ".join(name_of(attempt) for attempt in accepted)
            says = f"operation {account.operation} failed as not executed, but was accepted: {where}"
            entries = [attempt.accepted for attempt in accepted if attempt.accepted is not None]
            found.append(CHECK.fails(says, entries, account.operation))
    if found or not claims:
        return found
    return [CHECK.passes(f'{count_of(len(claims), "failure")} said "not executed" of what was never accepted')]


CHECK = Check(
    name="honest-failure",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant="What the subject says was not executed was never accepted by the router, not even later.",
    judge=honest_failure,
)
