"""What reaches the router is what the caller sent, in every attempt."""

from collections.abc import Iterator

from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.history import Outcome
from suites.run import Promise, Run


def intact_request(run: Run) -> list[Finding]:
    """Every request that was read is held against what its caller sent, or (where that is not known) against the first
    one of its operation. A transparent subject passes the bytes on, unless it writes each request anew; any other what
    they ask about.
    """
    outcomes = {outcome.operation: outcome for outcome in run.history}
    bytes_too = run.subject.promises is Promise.TRANSPARENT and not run.subject.rewrites
    found: list[Finding] = []
    judged = 0
    for account in accounts_of(run).all:
        read = [attempt for attempt in account.attempts if attempt.content_digest is not None]
        judged += len(read)
        outcome = outcomes.get(account.operation)
        found += _altered(account, read, outcome, bytes_too)
        found += _without_body(account, outcome)
    if found or not judged:
        return found
    return [CHECK.passes(f"{count_of(judged, 'request')} reached the router as sent")]


def _altered(account: Account, read: list[Attempt], outcome: Outcome | None, bytes_too: bool) -> Iterator[Finding]:
    for attempt in read:
        known = outcome.sent if outcome is not None and outcome.form.api is attempt.form.api else None
        first = read[0]
        content = first.content_digest if known is None or known.content is None else known.content
        body = first.body_digest if known is None or known.body is None else known.body
        what = None
        if attempt.content_digest != content:
            what = "what it asks about"
        elif bytes_too and attempt.body_digest != body:
            what = "the bytes of its body"
        if what is not None:
            of = "what its caller sent" if known is not None else f"{name_of(first)}"
            says = (
                f"operation {account.operation} reached the router altered ({name_of(attempt)}, {attempt.body_bytes} "
                f"bytes): {what} is not that of {of}"
            )
            yield CHECK.fails(says, attempt.entries, account.operation)


def _without_body(account: Account, outcome: Outcome | None) -> Iterator[Finding]:
    """Its head was sent again and announced no body, or the subject ended the connection before a byte of that. Nothing
    of ours had struck there, and its caller was waiting.
    """
    if outcome is not None and outcome.left:
        return
    for attempt in account.attempts[1:]:
        over = attempt.peer_left is not None or attempt.rejected is not None
        if attempt.body_came == 0 and not attempt.strikes and over:
            says = f"operation {account.operation} was sent again without its body ({name_of(attempt)})"
            # One that is held up waits for its 100 until its time is over, and then ends the connection just so.
            proof = Proof.CAUSE if attempt.rejected is None else None
            yield CHECK.fails(says, attempt.entries, account.operation, proof=proof)


CHECK = Check(
    name="intact-request",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant="What reaches the router is what the caller sent, whole and unaltered, in every attempt.",
    judge=intact_request,
)
