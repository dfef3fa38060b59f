"""What the subject does for a caller that has gone: nothing prescribes whether it stops or goes on."""

from suites.accounts import Account, accounts_of
from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def caller_left(run: Run) -> list[Finding]:
    """One finding for each caller that left. Whether its operation may be sent again is another check's matter."""
    left = {outcome.operation for outcome in run.history if outcome.left}
    return [
        CHECK.passes(_told(account), account.attempts[-1].entries, account.operation)
        for account in accounts_of(run).planned
        if account.operation in left and account.attempts
    ]


def _told(account: Account) -> str:
    last = account.attempts[-1]
    whole = last.answered if last.whole else None  # of an answer that stalls, a part was sent before that
    stopped = last.peer_left is not None and (whole is None or last.peer_left < whole)
    did = "ended its exchange with the router" if stopped else "waited for the router's answer"
    ran = "" if account.executions else ", before the work began"
    return (
        f"when the caller of operation {account.operation} had left, the subject {did}{ran} "
        f"({count_of(len(account.attempts), 'sending')} in all)"
    )


CHECK = Check(
    name="caller-left",
    claim=Claim.TELLS,
    proof=Proof.CAUSE,
    invariant="A subject may stop or go on for a caller that has left: what it does only tells.",
    judge=caller_left,
)
