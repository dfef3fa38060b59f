"""From findings to a verdict: worst wins, warnings change nothing, crashes and unconfirmed failures are UNKNOWN."""

from dataclasses import replace

import pytest

from fake_router.entries import AnyEntry
from faults.plan import Plan
from faults.vocabulary import Sight
from suites import judge as judge_module
from suites.checks import CHECKS
from suites.checks.check import Check
from suites.checks.twins import CHECK as TWINS
from suites.checks.words import WORDS
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import Judgement, confirm, invariant_of, judge, judgement_of
from suites.run import Run
from tests.ledgers import (
    accepted,
    executed,
    held,
    hung,
    ok,
    opened,
    planned,
    received,
    replied,
    replying,
    run,
    served,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
HEALTHY = run(planned(), [opened(1), *served(1, 1)], ok())


def finding(check: str, verdict: Verdict, claim: Claim = Claim.MUST, proof: Proof = Proof.CAUSE) -> Finding:
    return Finding(check=check, claim=claim, verdict=verdict, says=f"{check} says {verdict.name}", proof=proof)


@pytest.mark.parametrize("verdict", Verdict)
def test_the_worst_must_is_the_verdict(verdict: Verdict) -> None:
    """PASS, UNKNOWN and FAIL of musts, beside others that pass."""
    assert judgement_of((finding("a", PASS), finding("b", verdict), finding("c", PASS))).verdict is verdict


@pytest.mark.parametrize("claim", [Claim.SHOULD, Claim.TELLS])
def test_what_is_no_must_changes_no_verdict(claim: Claim) -> None:
    """A broken should is a warning; what tells is not even that."""
    judgement = judgement_of((finding("a", PASS), finding("b", FAIL, claim)))
    assert judgement.verdict is PASS
    assert len(judgement.warnings) == (claim is Claim.SHOULD)
    assert judgement.failures == ()
    assert judgement_of((finding("a", PASS), finding("b", UNKNOWN, claim))).unknowns == ()


def test_a_run_in_which_nothing_was_judged_is_unknown() -> None:
    """Without a must among the findings there is no PASS, and a finding says so."""
    judgement = judgement_of((finding("b", PASS, Claim.TELLS),))
    assert judgement.verdict is UNKNOWN
    assert judgement.unknowns[0].says == "no check found anything to judge"


def test_a_check_that_crashes_is_unknown_and_the_others_still_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding names the exception, whatever the claim of the check; the other findings are as before."""

    def crashes(_: Run) -> list[Finding]:
        raise ZeroDivisionError("division by zero")

    broken: Check = replace(next(check for check in CHECKS if check.claim is Claim.SHOULD), judge=crashes)
    monkeypatch.setattr(judge_module, "CHECKS", (*CHECKS, broken))
    judgement = judge(HEALTHY)
    assert judgement.verdict is UNKNOWN
    assert judgement.findings[:-1] == tuple(f for check in CHECKS for f in check.judge(HEALTHY))
    assert "ZeroDivisionError('division by zero')" in judgement.findings[-1].says


def test_a_judgement_has_a_verdict_or_a_reason_for_none() -> None:
    """Both or neither cannot be built."""
    for verdict, not_run in ((None, None), (PASS, "no keep-alive")):
        with pytest.raises(ValueError, match="expected exactly one"):
            Judgement(verdict=verdict, not_run=not_run)


def test_a_failure_of_cause_that_does_not_come_back_alone_is_unknown_and_shows_both_records() -> None:
    """A hang seen in company, and an answer alone."""
    in_company = judge(replace(run(planned(), served(1, 1), hung()), company=True)).failures[0]
    confirmed = confirm(in_company, judge(HEALTHY))
    assert (in_company.verdict, confirmed.verdict) == (FAIL, UNKNOWN)
    assert in_company.says in confirmed.says
    assert "1 operation, each with its answer" in confirmed.says


def test_a_failure_of_cause_that_comes_back_alone_stays() -> None:
    """The same hang, alone too."""
    hangs = run(planned(), served(1, 1), hung())
    in_company = judge(hangs).failures[0]
    assert confirm(in_company, judge(hangs)) is in_company


def test_what_the_ledger_proves_stays_wherever_it_was_seen() -> None:
    """Two executions need no confirmation; what is no FAIL is left as it is."""
    proved = finding("at-most-once", FAIL, proof=Proof.LEDGER)
    for one in (proved, finding("heals", UNKNOWN), finding("heals", PASS)):
        assert confirm(one, judge(HEALTHY)) is one


@pytest.mark.parametrize("alone", [Judgement(verdict=None, not_run="no keep-alive"), judgement_of(())])
def test_a_replay_that_shows_nothing_confirms_nothing(alone: Judgement) -> None:
    """A failure of cause is UNKNOWN where its replay was not run, or found nothing to judge."""
    assert confirm(finding("heals", FAIL), alone).verdict is UNKNOWN


def _proof(plan: Plan, entries: list[AnyEntry]) -> Proof:
    (failure,) = [one for one in judge(run(plan, entries, ok())).failures if one.check == "safe-retry"]
    return failure.proof


def test_that_a_whole_request_was_sent_again_is_proved_by_the_ledger() -> None:
    """Once it is written only an answer can be safe evidence; none had begun, or all of it was told. Neither company
    nor a stall is the reason.
    """
    unanswered = [opened(1), received(1), striking("reset-before", exchange=1), struck(3), *served(2, 1, of=2)]
    answered = [opened(1), received(1), striking("503-before", exchange=1), replying(1, 503), replied(1), struck(3)]
    assert _proof(planned("reset-before"), unanswered) is Proof.LEDGER
    assert _proof(planned("503-before"), [*answered, *served(2, 1, of=2)]) is Proof.LEDGER


def test_other_unsafe_retries_are_about_cause() -> None:
    """Where nobody had read the whole request, the rest of an answer may have come, or nothing is known to have
    happened, they must come back alone.
    """
    late = [opened(1), striking("unread-late", connection=1), struck(2), opened(2, 1), *served(2, 1, upstream=1)]
    begun = [opened(1), received(1), striking("silence-before", exchange=1), replying(1, 503), struck(3)]
    assert _proof(held("unread-late"), [*late, received(1), accepted(1), executed(1, 2)]) is Proof.CAUSE
    assert _proof(planned("silence-before"), [*begun, *served(2, 1, of=2)]) is Proof.CAUSE
    assert _proof(planned(), [opened(1), *served(1, 1), *served(2, 2, of=2)]) is Proof.CAUSE


def test_every_check_has_its_sentence() -> None:
    """Reports find the invariant by the name in a finding; the judge's own findings have none."""
    assert all(invariant_of(check.name) == check.invariant for check in (*CHECKS, TWINS))
    assert invariant_of("reach") == ""


def test_every_sight_has_its_words() -> None:
    """A finding never lacks the name of an evidence."""
    assert set(WORDS) == set(Sight)
