"""Twin faults get the same decision."""

from faults.catalogue import LETS_PASS
from faults.fault import Fault
from suites.accounts import Account, accounts_of
from suites.attempts import Attempt
from suites.checks.check import Property
from suites.checks.vacuity import vacuity
from suites.checks.words import name_of, words_of
from suites.findings import Claim, Finding, Proof, Verdict
from suites.history import Arrival, Kind, Outcome
from suites.run import Run

CHECK = Property(
    name="twins",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="The same evidence gets the same decision, whatever the router had really done.",
)


def twins(a: Run, b: Run) -> list[Finding]:
    """Two runs that differ in a fault and its twin, walked side by side for as long as the evidence is the same.

    Says nothing where a side proves nothing by itself. Raises ValueError for runs of different shapes.
    """
    if len(a.plan.operations) != len(b.plan.operations):
        raise ValueError(
            f"{len(a.plan.operations)} and {len(b.plan.operations)} operations; expected the same plan with twin faults"
        )
    if any(run.unreachable is not None or _proves_nothing(run) for run in (a, b)):
        return []
    found = []
    for one, other in zip(accounts_of(a).planned, accounts_of(b).planned, strict=True):
        finding = _compare(one, other, a, b)
        found += [finding] if finding else []
    return found


def _proves_nothing(run: Run) -> bool:
    return any(finding.verdict is not Verdict.PASS for finding in vacuity(run))


def _compare(one: Account, other: Account, a: Run, b: Run) -> Finding | None:
    """None where nothing can be compared: the evidence differs from the beginning, or was not certainly had."""
    last: tuple[Attempt, Attempt] | None = None
    for mine, theirs in zip(one.attempts, other.attempts, strict=False):
        if not _same_evidence(mine, theirs):
            return None if last is None else CHECK.passes(*_what(one, other, last, "was sent again after both"))
        last = (mine, theirs)
    if last is None:
        return None
    counts = (len(one.attempts), len(other.attempts))
    if counts[0] != counts[1]:
        withheld = [_has_no_body_yet(account, run) for account, run in ((one, a), (other, b))]
        if withheld[0] is not withheld[1] and counts[withheld.index(True)] < max(counts):
            return None
        did = ["sent again" if count > min(counts) else "not sent again" for count in counts]
        return CHECK.fails(*_what(one, other, last, f"was {did[0]} after one, {did[1]} after the other"))
    ends = [_end(run, account.operation) for run, account in ((a, one), (b, other))]
    if ends[0] != ends[1]:
        say = CHECK.passes if _cut_short(one, other, a, b) else CHECK.fails
        return say(*_what(one, other, last, f"ended {ends[0]} after one, {ends[1]} after the other"))
    return CHECK.passes(*_what(one, other, last, f"ended {ends[0]} after both"))


def _same_evidence(mine: Attempt, theirs: Attempt) -> bool:
    if not (mine.placed and theirs.placed):
        return False
    if (mine.body_came == 0) is not (theirs.body_came == 0):
        return False  # one of them had withheld its body, and never sent it
    faults = [_met(attempt) for attempt in (mine, theirs)]
    return all(fault.shows_its_cause for fault in faults) and faults[0].evidence == faults[1].evidence


def _met(attempt: Attempt) -> Fault:
    return attempt.met or LETS_PASS


def _has_no_body_yet(account: Account, run: Run) -> bool:
    """Its caller waits for a 100 (RFC 9110 s10.1.1): a subject that waits with it has nothing to send again."""
    planned = dict(zip(run.operations, run.plan.operations, strict=False)).get(account.operation)
    return planned is not None and planned.expect


def _cut_short(one: Account, other: Account, a: Run, b: Run) -> bool:
    """Neither says anything of the work, and a caller with a long request got no answer: who is still writing when a
    connection is closed may well not get it (RFC 9112 s9.6). Measured on HAProxy: a 502, or nothing.
    """
    outcomes = [_outcome(a, one.operation), _outcome(b, other.operation)]
    if not any(operation.body_bytes for operation in a.plan.operations):
        return False
    arrivals = [outcome.arrival for outcome in outcomes if outcome is not None and outcome.kind is Kind.UNKNOWN]
    return len(arrivals) == 2 and Arrival.NOTHING in arrivals


def _outcome(run: Run, operation: int) -> Outcome | None:
    return next((outcome for outcome in run.history if outcome.operation == operation), None)


def _end(run: Run, operation: int) -> str:
    """What the caller sees of it: kind and status."""
    outcome = _outcome(run, operation)
    if outcome is None:
        return "without an outcome"
    return f"{outcome.kind.value!r}" + ("" if outcome.status is None else f" with status {outcome.status}")


def _what(one: Account, other: Account, last: tuple[Attempt, Attempt], what: str) -> tuple[str, tuple[int, ...], int]:
    """The sentence, the entries of the first run, and its operation."""
    named = [
        f"{_met(attempt).id!r} (operation {account.operation}, {name_of(attempt)})"
        for attempt, account in zip(last, (one, other), strict=True)
    ]
    seen = words_of(_met(last[0]).evidence)
    says = f"twins {named[0]} and {named[1]}: after {seen}, the operation {what}"
    return says, last[0].entries, one.operation
