"""A cut or invalid answer is never passed on as whole and valid, as the subject promises; nothing comes behind one."""

from faults.acts import Fragment
from faults.contents import soundness_of
from faults.vocabulary import Replied, Soundness
from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.results import (
    Match,
    cut_shows,
    is_success,
    is_valid,
    match,
    passes_bytes,
    reply_of,
    was_lost,
)
from suites.checks.streams import ends_as_if_whole, is_part, streamed_of
from suites.checks.words import count_of, name_of
from suites.coding import wrong_with_coding
from suites.findings import Claim, Finding, Proof
from suites.history import Arrival, Kind, Outcome
from suites.run import Promise, Run, SubjectFacts


def no_garbage(run: Run) -> list[Finding]:
    """A transparent subject is asked whether a cut answer looked cut; one that answers, whether it was valid; each,
    whether anything came behind it.
    """
    accounts = accounts_of(run)
    held = [outcome for outcome in run.history if outcome.behind or _is_used(outcome, run.subject)]
    found = [
        finding
        for outcome in held
        for judge in (_judge_behind, _judge_used)
        if (finding := judge(accounts.of(outcome.operation), outcome, run.subject)) is not None
    ]
    if found or not held:
        return found
    return [CHECK.passes(f"{count_of(len(held), 'success answer')}, none of them cut or invalid")]


def _is_used(outcome: Outcome, subject: SubjectFacts) -> bool:
    """Its caller takes it for a success, or has used the beginning of it as it came."""
    if subject.promises is Promise.TRANSPARENT:
        return _looks_whole(outcome, subject)
    return outcome.kind is Kind.OK or is_part(outcome, subject)


def _judge_behind(account: Account, outcome: Outcome, _: SubjectFacts) -> Finding | None:
    """RFC 9112 s9.2: what comes when no request is outstanding answers none. A caller that used its connection again
    would take it for the next answer.
    """
    if not outcome.behind:
        return None
    count = count_of(len(outcome.behind), "byte")
    says = f"{count} came behind the whole answer to operation {outcome.operation}: {outcome.behind[:40]!r}"
    return CHECK.fails(says, _entries_of(account), outcome.operation)


def _judge_used(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    if not _is_used(outcome, subject):
        return None
    if subject.promises is Promise.TRANSPARENT:
        return _judge_whole(account, outcome, subject)
    if outcome.kind is Kind.OK:
        return _judge_coding(account, outcome) or _judge_valid(account, outcome, subject)
    return _judge_part(account, outcome, subject)


def _judge_coding(account: Account, outcome: Outcome) -> Finding | None:
    """RFC 9110 s8.4: the head names the coding, and a caller undoes that one and no other."""
    wrong = wrong_with_coding(outcome.body, outcome.coding)
    if wrong is None:
        return None
    return CHECK.fails(f"operation {outcome.operation} succeeded with {wrong}", _entries_of(account), outcome.operation)


def _entries_of(account: Account) -> list[int]:
    return [seq for attempt in account.attempts for seq in attempt.entries]


def _looks_whole(outcome: Outcome, subject: SubjectFacts) -> bool:
    """An object has no framing that could look cut: what it returns it calls whole."""
    arrived = outcome.arrival is Arrival.WHOLE or not passes_bytes(outcome, subject)
    return is_success(outcome, subject) and arrived


def _judge_whole(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    """What the framing shows to be cut (RFC 9112 s8) must not be passed on as whole."""
    matched = [(attempt, match(attempt, outcome, subject)) for attempt in account.attempts]
    if any(how is Match.EQUAL and _arrived_whole(attempt) for attempt, how in matched):
        return None
    cut = [attempt for attempt, how in matched if how is not Match.NONE and not _arrived_whole(attempt)]
    if not cut or not all(cut_shows(attempt) for attempt in cut):
        return None  # nothing that was cut is passed on here
    entries = [seq for attempt in cut for seq in attempt.entries]
    return _cut_as_whole(account, cut[0], entries)


def _judge_part(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    """Of a stream that was lost each event is one, up to the error event, and its end shows that it was lost."""
    wrong = streamed_of(outcome).wrong
    if wrong:
        says = f"the stream of operation {outcome.operation} holds {wrong}"
        return CHECK.fails(says, _entries_of(account), outcome.operation)
    return _judge_end(account, outcome, subject) if ends_as_if_whole(outcome) else None


def _arrived_whole(attempt: Attempt) -> bool:
    return attempt.replied is Replied.WHOLE and not was_lost(attempt)


def _judge_end(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    """A stream that was lost ends with an error event, or short of its last chunk. This one looks like a success."""
    attempts = account.attempts
    if any(is_valid(attempt) and match(attempt, outcome, subject) is Match.EQUAL for attempt in attempts):
        return None
    behind = f" ({name_of(attempts[-1])})" if attempts else ""
    says = (
        f"the stream of operation {account.operation} ended as if it were whole ({outcome.says}), and is not what the "
        f"router sent whole{behind}; expected an error event, or an end that looks cut"
    )
    return CHECK.fails(says, attempts[-1].entries if attempts else (), account.operation)


def _judge_valid(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    """RFC 9112 s8: an incomplete message is no answer, even where all of its content has arrived."""
    behind = [attempt for attempt in account.attempts if match(attempt, outcome, subject) is Match.EQUAL]
    candidates = behind or list(account.attempts)
    if any(is_valid(attempt) for attempt in candidates):
        return None
    if not candidates:
        return CHECK.fails(f"operation {account.operation} succeeded without any answer of the router")
    attempt = candidates[-1]
    act = reply_of(attempt)
    if isinstance(act, Fragment) or attempt.status is None:
        what = "no answer"
    elif attempt.success_head and soundness_of(act.content, attempt.form) is not Soundness.WRONG:
        return _cut_as_whole(account, attempt, attempt.entries)
    else:
        what = f"status {attempt.status} and {act.content.value!r} content"
    says = f"operation {account.operation} succeeded though the router sent {what} ({name_of(attempt)})"
    return CHECK.fails(says, attempt.entries, account.operation)


def _cut_as_whole(account: Account, attempt: Attempt, entries: list[int] | tuple[int, ...]) -> Finding:
    where = name_of(attempt)
    if attempt.answered is None:
        says = f"how much of the answer of {where} was sent is not recorded"
        return CHECK.cannot_know(says, entries, account.operation)
    says = f"operation {account.operation} was answered as whole with what the router had cut ({where})"
    return CHECK.fails(says, entries, account.operation)


CHECK = Check(
    name="no-garbage",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant=(
        "A cut answer is never passed on as whole, nor (by a subject that answers) an invalid one as a success, and "
        "nothing comes behind an answer."
    ),
    judge=no_garbage,
)
