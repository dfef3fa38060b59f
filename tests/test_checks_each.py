"""Every check has a run that it passes, one that it does not, and one in which it finds nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from fake_router.entries import EndedBy
from faults.contents import fixed_content
from faults.vocabulary import Content
from suites.checks import CHECKS, TELLS_NAMES
from suites.checks.check import Check
from suites.findings import Claim, Proof, Verdict
from suites.history import Arrival, Kind, Outcome
from suites.judge import findings_of
from suites.run import Promise, Run, Sockets, SubjectFacts
from suites.sent import Sent
from tests.ledgers import (
    CONTRACTED,
    FRESH,
    FUTURES,
    OP,
    PROXY,
    SERVER,
    accepted,
    closed,
    executed,
    failed,
    held,
    hung,
    lost,
    ok,
    opened,
    planned,
    received,
    replied,
    replying,
    run,
    served,
    steps,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
HTML = fixed_content(Content.HTML)[1]
EMPTY = replace(run(planned(), []), operations=(), fresh=(), ledger=(), history=(), sockets=Sockets())
NO_WORKERS = (received(1), striking("503-no-workers", exchange=1), replying(1, 503), replied(1), struck(2))
RESET_AFTER = (received(1), accepted(1), executed(1, 1), striking("reset-after", exchange=1), closed(1), struck(4))
HTML_200 = steps(
    [received(1), accepted(1), executed(1, 1), striking("html-200", exchange=1)],
    [replying(1), replied(1), struck(4)],
)
SENT = replace(ok(), sent=Sent(content=1, body=2))
WHOLE, ALTERED = ([opened(1), received(1, digests=digests)] for digests in ((1, 2), (3, 4)))
LEFT = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.LEFT, left=True)
EXPIRED = (opened(1), striking("certificate-expired", connection=1), closed(1, EndedBy.PEER), struck(2))
ACCEPT_RESET = (opened(1), striking("accept-reset", connection=1), closed(1), struck(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trio:
    """good: PASS. bad: made for a subject, `bad_says` of one that answers. empty: what a run of nothing gets."""

    good: Run
    bad: Callable[[SubjectFacts], Run]
    bad_says: Verdict = FAIL
    empty: Verdict | None = None


def healthy(**changes: object) -> Run:
    return replace(run(planned(), [opened(1), *served(1, 1)], ok()), **changes)  # type: ignore[arg-type]


def duplicate(subject: SubjectFacts) -> Run:
    entries = [*RESET_AFTER, *served(2, 2, upstream=1, of=2)]
    return run(planned("reset-after"), entries, ok(execution=2), subject=subject)


def html_as_success(subject: SubjectFacts) -> Run:
    return run(planned("html-200"), HTML_200, ok(body=HTML), subject=subject)


TRIOS = {
    "at-most-once": Trio(good=healthy(), bad=duplicate),
    "safe-retry": Trio(
        good=run(planned("503-no-workers"), [*NO_WORKERS, *served(2, 1, of=2)], ok(), subject=CONTRACTED),
        bad=duplicate,
    ),
    "own-result": Trio(
        good=healthy(),
        bad=lambda subject: healthy(subject=subject, history=(ok(body=HTML), ok(FRESH, 90))),
    ),
    "intact-request": Trio(
        good=run(planned(), [*WHOLE, accepted(1), executed(1, 1), replying(1), replied(1)], SENT),
        bad=lambda subject: run(planned(), ALTERED, replace(SENT, kind=Kind.UNKNOWN), subject=subject),
    ),
    "no-garbage": Trio(good=healthy(), bad=html_as_success),
    "honest-failure": Trio(
        good=run(planned("503-no-workers"), NO_WORKERS, failed()),
        bad=lambda subject: run(planned("reset-after"), RESET_AFTER, failed(), subject=subject),
    ),
    "answered": Trio(
        good=healthy(),
        bad=lambda subject: run(planned(), served(1, 1), hung(), subject=subject),
    ),
    "retrievable": Trio(
        good=healthy(subject=FUTURES),
        bad=lambda subject: run(planned(), served(1, 1), lost(status=404), subject=subject),
    ),
    "survives": Trio(good=healthy(), bad=lambda subject: healthy(subject=subject, died="signal 6"), empty=PASS),
    "heals": Trio(
        good=healthy(),
        bad=lambda subject: healthy(subject=subject, history=(ok(), lost(FRESH))),
        empty=UNKNOWN,
    ),
    "no-leak": Trio(
        good=healthy(),
        bad=lambda subject: healthy(subject=subject, sockets=Sockets(warm=1, healed=2)),
        empty=UNKNOWN,
    ),
    "safe-retry-made": Trio(
        good=run(planned("503-no-workers"), [*NO_WORKERS, *served(2, 1, of=2)], ok(), subject=CONTRACTED),
        bad=lambda subject: run(
            planned("503-no-workers"), NO_WORKERS, lost(), subject=replace(subject, contract=CONTRACTED.contract)
        ),
    ),
    "verifies": Trio(
        good=run(held("certificate-expired"), [*EXPIRED, opened(2, 1), *served(2, 1, upstream=1)], ok()),
        bad=lambda subject: run(held("certificate-expired"), [*EXPIRED[:2], *served(1, 1)], ok(), subject=subject),
    ),
    "vacuity": Trio(
        good=run(planned("reset-after"), RESET_AFTER, lost()),
        bad=lambda subject: run(planned("reset-after"), served(1, 1), ok(), subject=subject),
        bad_says=UNKNOWN,
        empty=UNKNOWN,
    ),
    "uncertain-evidence": Trio(
        good=run(held("accept-reset"), [*ACCEPT_RESET, opened(2, 1), *served(2, 1, upstream=1)], ok()),
        bad=lambda subject: run(held("accept-reset"), ACCEPT_RESET, lost(), subject=subject),
        bad_says=PASS,  # it tells, and is never judged
    ),
    "caller-left": Trio(
        good=run(planned("silence-after"), served(1, 1), LEFT),
        bad=lambda subject: run(
            planned("silence-after"), [received(1), closed(1, EndedBy.PEER)], LEFT, subject=subject
        ),
        bad_says=PASS,
    ),
}

BY_PROMISE: dict[tuple[str, Promise], Verdict | None] = {
    ("retrievable", Promise.TRANSPARENT): None,  # they promise no futures
    ("retrievable", Promise.ANSWERING): None,
    ("answered", Promise.TRANSPARENT): UNKNOWN,  # it promises no answer
    ("no-garbage", Promise.TRANSPARENT): PASS,  # it promises bytes, and HTML is what the router sent
}
SUBJECTS = {Promise.TRANSPARENT: PROXY, Promise.ANSWERING: SERVER, Promise.FUTURES: FUTURES}


def _says(check: Check, run_: Run) -> Verdict | None:
    return max((finding.verdict for finding in findings_of(check, run_)), default=None)


def test_every_check_has_its_three_runs() -> None:
    """A new check needs a good, a bad and an empty run; a name that no check has is a mistake."""
    assert set(TRIOS) == {check.name for check in CHECKS}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_good_run_passes(check: Check) -> None:
    """The check says PASS of its good run, and does say something."""
    assert _says(check, TRIOS[check.name].good) is PASS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_an_empty_run_is_no_proof(check: Check) -> None:
    """Where nothing happened the check says nothing, or that it cannot know."""
    assert _says(check, EMPTY) is TRIOS[check.name].empty


@pytest.mark.parametrize("promise", Promise)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_bad_run_is_judged_by_what_the_subject_promises(check: Check, promise: Promise) -> None:
    """Every pair of check and promise has its verdict on the check's bad run."""
    trio = TRIOS[check.name]
    expected = BY_PROMISE.get((check.name, promise), trio.bad_says)
    assert _says(check, trio.bad(SUBJECTS[promise])) is expected


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_findings_carry_the_name_and_the_claim_of_their_check(check: Check) -> None:
    """Every finding is under its check's name, claim and proof, with entries that exist, each once and in order."""
    for run_ in (TRIOS[check.name].good, TRIOS[check.name].bad(SERVER), EMPTY):
        seqs = {entry.seq for entry in run_.ledger}
        for finding in findings_of(check, run_):
            assert (finding.check, finding.claim) == (check.name, check.claim)
            assert finding.proof in {check.proof, Proof.LEDGER}  # it may rest on more than its kind usually does
            assert list(finding.entries) == sorted(set(finding.entries))
            assert set(finding.entries) <= seqs
            assert finding.says


@pytest.mark.parametrize(
    "name", ["at-most-once", "safe-retry", "own-result", "no-garbage", "honest-failure", "verifies"]
)
def test_a_failure_that_the_ledger_shows_names_operation_and_entries(name: str) -> None:
    """A stranger finds in the ledger what the finding rests on."""
    check = next(check for check in CHECKS if check.name == name)
    for finding in check.judge(TRIOS[name].bad(SERVER)):
        assert finding.operation is not None
        assert finding.entries


def test_names_and_invariants_are_fit_for_reports() -> None:
    """Names are unique kebab-case words; an invariant is one sentence."""
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    for check in CHECKS:
        assert check.name == check.name.lower()
        assert check.name.replace("-", "").isalpha()
        assert check.invariant.endswith(".")
        assert ". " not in check.invariant


def test_what_only_tells_is_named() -> None:
    """TELLS_NAMES are the checks whose claim is to tell, and there are some."""
    assert {check.name for check in CHECKS if check.claim is Claim.TELLS} == TELLS_NAMES
    assert {"uncertain-evidence", "caller-left"} == TELLS_NAMES


def test_a_reset_at_accept_that_was_only_about_to_strike_tells_nothing() -> None:
    """Nothing says that the subject saw it."""
    check = next(check for check in CHECKS if check.name == "uncertain-evidence")
    assert check.judge(run(held("accept-reset"), ACCEPT_RESET[:-1], lost())) == []


@pytest.mark.parametrize(("entries", "did"), [((), "was not sent again"), (served(2, 1, upstream=1), "was sent again")])
def test_a_reset_at_accept_tells_what_was_decided(entries: tuple[object, ...], did: str) -> None:
    """The finding says whether the operation was sent again."""
    check = next(check for check in CHECKS if check.name == "uncertain-evidence")
    (finding,) = check.judge(run(held("accept-reset"), [*ACCEPT_RESET, *entries], ok()))  # type: ignore[list-item]
    assert did in finding.says
