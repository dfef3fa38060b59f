"""A success holds the result of its own operation, and a stream that was lost the beginning of it."""

from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.results import Match, is_success, match, operation_held
from suites.checks.streams import holds_nothing, is_beginning, is_part
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.history import Arrival, Outcome
from suites.run import Run, SubjectFacts


def own_result(run: Run) -> list[Finding]:
    """Every success in the history, fresh operations included, and all that came of a stream that was lost, is traced
    to one execution of its operation.
    """
    accounts = accounts_of(run)
    held = [outcome for outcome in run.history if is_success(outcome, run.subject) or is_part(outcome, run.subject)]
    found = []
    for outcome in held:
        account = accounts.of(outcome.operation)
        if not _is_traced(account, outcome, run.subject):
            entries = [attempt.executed for attempt in account.executions if attempt.executed is not None]
            found.append(CHECK.fails(_says(account, outcome, run.subject), entries, outcome.operation))
    if found or not held:
        return found
    return [CHECK.passes(f"{count_of(len(held), 'success answer')} traced to an execution of its own operation")]


def _is_traced(account: Account, outcome: Outcome, subject: SubjectFacts) -> bool:
    if is_part(outcome, subject):
        return holds_nothing(outcome) or any(is_beginning(attempt, outcome) for attempt in account.attempts)
    return any(_explains(attempt, outcome, subject) for attempt in account.attempts)


def _explains(attempt: Attempt, outcome: Outcome, subject: SubjectFacts) -> bool:
    """Of a reply that was cut, on either side of the subject, any prefix is faithful."""
    matched = match(attempt, outcome, subject)
    cut = outcome.arrival is not Arrival.WHOLE or not attempt.whole
    return matched is Match.EQUAL or (matched is Match.PREFIX and cut)


def _says(account: Account, outcome: Outcome, subject: SubjectFacts) -> str:
    held = operation_held(outcome)
    if held is not None and held != outcome.operation:
        return f"operation {outcome.operation} was answered with the result of operation {held}"
    if not account.executions:
        return f"operation {outcome.operation} succeeded for its caller, and was never executed"
    executions = ", ".join(str(attempt.execution) for attempt in account.executions)
    whole = "the beginning of the result" if is_part(outcome, subject) else "the result"
    return (
        f"what the caller of operation {outcome.operation} holds ({_excerpt(outcome)}) is not {whole} of its "
        f"execution {executions}"
    )


def _excerpt(outcome: Outcome) -> str:
    if outcome.tokens is not None:
        return f"tokens {list(outcome.tokens)!r}"
    if outcome.text is not None:
        return f"the text {outcome.text[:60]!r}"
    shown = outcome.body[:60]
    coding = f", called {outcome.coding!r}" if outcome.coding else ""
    return f"{shown!r}{'...' if len(outcome.body) > len(shown) else ''}{coding}"


CHECK = Check(
    name="own-result",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant=(
        "A success holds the result of an execution of its own operation, unaltered, and a stream that was lost the "
        "beginning of one."
    ),
    judge=own_result,
)
