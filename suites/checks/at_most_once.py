"""No operation is executed twice."""

from suites.accounts import Account, accounts_of
from suites.checks.check import Check
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def at_most_once(run: Run) -> list[Finding]:
    """The ledger proves it, whatever the caller saw and however late the second execution came."""
    accounts = [account for account in accounts_of(run).all if account.attempts]
    found = []
    for account in accounts:
        executions = account.executions
        if len(executions) > 1:
            where = " and ".join(name_of(attempt) for attempt in executions)
            layers = _layers(run, account)
            says = f"operation {account.operation} was executed {len(executions)} times{layers}: {where}"
            entries = [attempt.executed for attempt in executions if attempt.executed is not None]
            found.append(CHECK.fails(says, entries, account.operation))
    if found or not accounts:
        return found
    executed = sum(len(account.executions) for account in accounts)
    return [CHECK.passes(f"{count_of(len(accounts), 'operation')}, {count_of(executed, 'execution')}")]


def _layers(run: Run, account: Account) -> str:
    """How the sendings of a chain multiply."""
    if run.between is None:
        return ""
    sent = count_of(run.between.get(account.operation, 0), "sending")
    return f" ({sent} from the first of {run.subject.name} to the second, {len(account.attempts)} from that)"


CHECK = Check(
    name="at-most-once",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant="No operation is executed twice.",
    judge=at_most_once,
)
