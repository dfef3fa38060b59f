"""Retries only on evidence which proves that nothing was applied."""

from itertools import pairwise

from faults.evidence import Contract, Evidence, classify
from faults.vocabulary import Class, Sight
from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.words import count_of, name_of, words_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run

_ALL_THAT_COMES = frozenset({Sight.STATUS, Sight.HEAD_CUT, Sight.CUT})


def safe_retry(run: Run) -> list[Finding]:
    """Every sending after the first is judged by what the subject knew of the one before it."""
    accounts = [account for account in accounts_of(run).all if account.attempts]
    if not accounts:
        return []
    contract = run.subject.contract
    left = {outcome.operation for outcome in run.history if outcome.left}
    found: list[Finding] = []
    again = 0
    for account in accounts:
        placed = [attempt for attempt in account.attempts if attempt.placed]
        again += max(len(placed) - 1, 0)
        for before, attempt in pairwise(placed):
            for_nobody = account.operation in left and not before.struck and before.peer_left is not None
            if for_nobody:
                found.append(_for_nobody(account, before, attempt))
                continue
            finding = _judge_retry(account, before, attempt, contract)
            found += [finding] if finding else []
        finding = _judge_unplaced(account, contract)
        found += [finding] if finding else []
    return found or [CHECK.passes(f"{count_of(again, 'sending')} after the first, none of them on unsafe evidence")]


def _judge_retry(account: Account, before: Attempt, attempt: Attempt, contract: Contract) -> Finding | None:
    """None where the retry was safe, and where the decision is not to be judged."""
    if before.body_came == 0:
        return None  # nothing can be applied of a head whose body its sender has withheld (RFC 9110 s10.1.1)
    how = ", without its body" if attempt.body_came == 0 else ""
    again = f"operation {account.operation} was sent again ({name_of(attempt)}{how})"
    entries = (*before.entries, *attempt.entries)
    strike = before.strikes[0] if before.strikes else None
    if strike is None and before.unserved is not None:
        says = f"{again} after the connection of {name_of(before)} ended with its request unserved: AMBIGUOUS"
        return CHECK.fails(says + _luck(account, attempt), entries, account.operation)
    if strike is None or attempt.start < strike.striking:
        what = "was still open" if before.answered is None or attempt.start < before.answered else "had been answered"
        if attempt.connection is None:
            says = f"a dial ({name_of(attempt)}) while {name_of(before)} {what}: a sending, or a pool's or a probe's?"
            return CHECK.cannot_know(says, entries, account.operation)
        says = f"{again} with no evidence of a failure: {name_of(before)} {what}"
        return CHECK.fails(says + _luck(account, attempt), entries, account.operation)
    fault = strike.met
    if not fault.shows_its_cause:
        return None  # the forwarder may or may not have written a byte; what it decided only tells
    evidence = fault.evidence
    class_ = classify(evidence, contract)
    if (
        before.success_head
        and attempt.start > (before.replying or 0)
        and (strike.struck is None or class_ is Class.SAFE)
    ):
        says = f"{again} after the head of a success had begun to come ({name_of(before)}): FINAL"
        proof = _proof(before, attempt, evidence)
        return CHECK.fails(says + _luck(account, attempt), entries, account.operation, proof=proof)
    if strike.struck is None:
        says = f"{again} after {fault.id!r} was about to strike; nothing says that it did"
        return CHECK.cannot_know(says, entries, account.operation)
    if class_ is not Class.SAFE:
        says = f"{again} after {words_of(evidence)}: {class_}"
        proof = _proof(before, attempt, evidence)
        return CHECK.fails(says + _luck(account, attempt), entries, account.operation, proof=proof)
    if evidence.status is not None and (before.replying is None or attempt.start < before.replying):
        says = f"{again} before {words_of(evidence)} had been sent to it: no evidence yet"
        return CHECK.fails(says + _luck(account, attempt), entries, account.operation)
    return None


def _proof(before: Attempt, attempt: Attempt, evidence: Evidence) -> Proof:
    """Whoever has written a whole request can have safe evidence of it by an answer alone (RFC 9110 s9.2.2). Where none
    had been begun, or no more ever comes than was judged, no company and no stall of this machine made the difference:
    they can only keep an answer from being seen, and that is no safe evidence either.
    """
    if before.received is None or attempt.received is None or attempt.start < before.received:
        return Proof.CAUSE
    unanswered = before.replying is None or attempt.start < before.replying
    final = before.success_head or evidence.sight in _ALL_THAT_COMES
    return Proof.LEDGER if unanswered or final else Proof.CAUSE


def _for_nobody(account: Account, before: Attempt, attempt: Attempt) -> Finding:
    """That its caller has gone is no evidence about the work."""
    says = (
        f"operation {account.operation} was sent again ({name_of(attempt)}) when its caller had left, and nothing had "
        f"happened to {name_of(before)}"
    )
    return CHECK.fails(says + _luck(account, attempt), (*before.entries, *attempt.entries), account.operation)


def _luck(account: Account, attempt: Attempt) -> str:
    """RFC 9110 s9.2.2 forbids the decision, not its outcome: the fault's twin would have been executed twice."""
    return "" if len(account.executions) > 1 or attempt.body_came == 0 else "; only luck prevented a second execution"


def _judge_unplaced(account: Account, contract: Contract) -> Finding | None:
    """A sending that nobody saw at its time may be a retry after any fault that leaves its sender in doubt. Beside
    a healthy exchange alone it came first: there was nothing to send again after.
    """
    unplaced = [attempt for attempt in account.attempts if not attempt.placed]
    others = [attempt for attempt in account.attempts if attempt.placed and _leaves_doubt(attempt, contract)]
    unknown = [attempt for attempt in unplaced if not attempt.strikes]
    if not unplaced or (not others and not (unknown and len(account.attempts) > 1)):
        return None
    entries = [seq for attempt in (*unplaced, *others) for seq in attempt.entries]
    says = (
        f"operation {account.operation} was sent to upstream {unplaced[0].upstream} at a time that nobody saw: "
        "whether that was a retry after unsafe evidence is not known (a packet witness would tell)"
    )
    return CHECK.cannot_know(says, entries, account.operation)


def _leaves_doubt(attempt: Attempt, contract: Contract) -> bool:
    fault = attempt.met
    if fault is None:
        return False
    return not fault.lets_pass and fault.shows_its_cause and fault.class_under(contract) is not Class.SAFE


CHECK = Check(
    name="safe-retry",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant=(
        "An operation is sent again only on evidence which proves that it was never applied (RFC 9110 s9.2.2), "
        "whether or not luck prevents a second execution."
    ),
    judge=safe_retry,
)
