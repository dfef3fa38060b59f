"""A result stays retrievable, as a subject with futures promises."""

from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.results import is_valid, was_sent_well
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.history import Heard, Kind, Outcome
from suites.run import Promise, Run


def retrievable(run: Run) -> list[Finding]:
    """What the router sent well has been retrieved, whichever polls for it were abandoned; and what was delivered is
    delivered again, the same bytes, to whoever asks soon after.
    """
    if run.subject.promises is not Promise.FUTURES:
        return []
    accounts = accounts_of(run)
    found = [
        finding
        for outcome in run.history
        for judge in (_judge_lost, _judge_again)
        if (finding := judge(run, accounts.of(outcome.operation), outcome)) is not None
    ]
    held = [outcome for outcome in run.history if outcome.kind is Kind.OK]
    if found or not held:
        return found
    return [CHECK.passes(f"{count_of(len(held), 'result')} retrieved, and still there")]


def _judge_lost(run: Run, account: Account, outcome: Outcome) -> Finding | None:
    """Work that was done, and whose answer the subject certainly had, for nothing."""
    last = account.attempts[-1] if account.attempts else None
    if outcome.kind is Kind.OK or last is None or not (was_sent_well(last) and is_valid(last)):
        return None
    if _came_too_late(run, last, outcome):
        return None
    says = (
        f"the router sent the result of operation {account.operation} well ({name_of(last)}), and its caller could not "
        f"retrieve it: {outcome.says or outcome.status}"
    )
    return CHECK.fails(says, last.entries, account.operation)


def _came_too_late(run: Run, attempt: Attempt, outcome: Outcome) -> bool:
    """Its request was on its way for longer than its caller waited: in a queue, or cut off with a container."""
    began_ns = next((entry.at_ns for entry in run.ledger if entry.seq == attempt.start), 0)
    return began_ns > outcome.ended_at_ns > 0


def _judge_again(_run: Run, account: Account, outcome: Outcome) -> Finding | None:
    polls = [heard for heard in outcome.heard if heard.poll]
    if outcome.kind is not Kind.OK or len(polls) < 2:
        return None
    other = next((heard for heard in _after_result(polls, outcome.body) if not _is_same(heard, outcome)), None)
    if other is None:
        return None
    says = (
        f"a poll for the result of operation {account.operation}, asked once more after it was delivered, got "
        f"{other.status or other.arrival} with {other.body[:60]!r}; expected the same {len(outcome.body)} bytes"
    )
    return CHECK.fails(says, [seq for attempt in account.attempts for seq in attempt.entries], account.operation)


def _after_result(polls: list[Heard], body: bytes) -> list[Heard]:
    first = next(place for place, heard in enumerate(polls) if heard.body == body)
    return polls[first + 1 :]


def _is_same(heard: Heard, outcome: Outcome) -> bool:
    return (heard.arrival, heard.status, heard.body) == (outcome.arrival, outcome.status, outcome.body)


CHECK = Check(
    name="retrievable",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant=(
        "A result that came whole is retrieved though polls for it were abandoned, and it stays retrievable, the same "
        "bytes, for some time after it was delivered."
    ),
    judge=retrievable,
)
