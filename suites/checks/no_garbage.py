"""A cut or invalid answer is never passed on as whole and valid, as the subject promises."""

from faults.acts import Fragment
from faults.contents import soundness_of
from faults.truth import cut_can_be_seen
from faults.vocabulary import Replied, Soundness
from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Check
from suites.checks.results import Match, is_success, is_valid, match, passes_bytes, reply_of
from suites.checks.words import count_of, name_of
from suites.events import streamed_in
from suites.findings import Claim, Finding, Proof
from suites.history import Arrival, Kind, Outcome
from suites.run import Promise, Run, SubjectFacts


def no_garbage(run: Run) -> list[Finding]:
    """A transparent subject is asked whether a cut answer looked cut; one that answers, whether it was valid."""
    accounts = accounts_of(run)
    judged = 0
    found: list[Finding] = []
    for outcome in run.history:
        account = accounts.of(outcome.operation)
        if run.subject.promises is Promise.TRANSPARENT:
            if not _looks_whole(outcome, run.subject):
                continue
            finding = _judge_whole(account, outcome, run.subject)
        elif outcome.kind is Kind.OK:
            finding = _judge_valid(account, outcome, run.subject)
        elif _ends_as_if_whole(outcome):
            finding = _judge_end(account, outcome)
        else:
            continue
        judged += 1
        found += [finding] if finding else []
    if found or not judged:
        return found
    return [CHECK.passes(f"{count_of(judged, 'success answer')}, none of them cut or invalid")]


def _looks_whole(outcome: Outcome, subject: SubjectFacts) -> bool:
    """A call in process has no framing that could look cut: what it returns it calls whole."""
    arrived = outcome.arrival is Arrival.WHOLE or not passes_bytes(subject)
    return is_success(outcome, subject) and arrived


def _judge_whole(account: Account, outcome: Outcome, subject: SubjectFacts) -> Finding | None:
    """What the framing shows to be cut (RFC 9112 s8) must not be passed on as whole."""
    matched = [(attempt, match(attempt, outcome, subject)) for attempt in account.attempts]
    if any(how is Match.EQUAL and attempt.replied is Replied.WHOLE for attempt, how in matched):
        return None
    cut = [attempt for attempt, how in matched if how is not Match.NONE and attempt.replied is not Replied.WHOLE]
    if not cut or not all(cut_can_be_seen(reply_of(attempt)) for attempt in cut):
        return None  # nothing that was cut is passed on here
    entries = [seq for attempt in cut for seq in attempt.entries]
    return _cut_as_whole(account, cut[0], entries)


def _ends_as_if_whole(outcome: Outcome) -> bool:
    """A stream of which a caller believes that nothing is missing: it ends as its framing says, or says [DONE], and
    nothing in it says that it failed.
    """
    begun = outcome.status is not None and 200 <= outcome.status < 300
    if not (outcome.form.stream and begun and outcome.arrival in (Arrival.WHOLE, Arrival.CUT)):
        return False
    streamed = streamed_in(outcome.body, outcome.form.api)
    return not streamed.error and (streamed.done or outcome.arrival is Arrival.WHOLE)


def _judge_end(account: Account, outcome: Outcome) -> Finding | None:
    """A stream that was lost ends with an error event, or short of its last chunk. This one looks like a success."""
    if not account.attempts or any(is_valid(attempt) for attempt in account.attempts):
        return None
    attempt = account.attempts[-1]
    says = (
        f"the stream of operation {account.operation} ended as if it were whole ({outcome.says}), though the router's "
        f"was not ({name_of(attempt)}); expected an error event, or an end that looks cut"
    )
    return CHECK.fails(says, attempt.entries, account.operation)


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
    invariant="A cut answer is never passed on as whole, nor (by a subject that answers) an invalid one as a success.",
    judge=no_garbage,
)
