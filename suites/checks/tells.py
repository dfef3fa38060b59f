"""How the subject decides where nothing is prescribed."""

from suites.accounts import accounts_of
from suites.checks.check import Check
from suites.checks.words import name_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def tells(run: Run) -> list[Finding]:
    """One finding for each sending whose fault left it open what the forwarder knew."""
    found = []
    for account in accounts_of(run).planned:
        followed = (*account.attempts[1:], None)
        for attempt, after in zip(account.attempts, followed, strict=False):
            if attempt.met is None or not attempt.struck or attempt.met.shows_its_cause:
                continue
            did = "was not sent again" if after is None else f"was sent again ({name_of(after)})"
            says = f"after {attempt.fault!r} operation {account.operation} {did}"
            found.append(CHECK.passes(says, attempt.entries, account.operation))
    return found


CHECK = Check(
    name="uncertain-evidence",
    claim=Claim.TELLS,
    proof=Proof.CAUSE,
    invariant="Where the router cannot know what the forwarder had in hand, its decision is recorded, and not judged.",
    judge=tells,
)
