"""Twin faults get the same decision, and a difference is a failure of cause."""

from dataclasses import replace

import pytest

from fake_router.entries import EndedBy, Witness
from faults.catalogue import CATALOGUE
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.findings import Claim, Proof, Verdict
from suites.history import Arrival
from suites.judge import judge_twins
from suites.run import Run
from tests.ledgers import (
    PROXY,
    accepted,
    closed,
    dialled,
    executed,
    failed,
    held,
    lost,
    ok,
    opened,
    planned,
    received,
    run,
    served,
    steps,
    striking,
    struck,
    unserved,
)

PASS, FAIL = Verdict.PASS, Verdict.FAIL
RETRIED = served(2, 2, upstream=1, of=2)
AFTER = (received(1), accepted(1), executed(1, 1), striking("reset-after", exchange=1), closed(1), struck(4))
BEFORE = (received(1), striking("reset-before", exchange=1), closed(1), struck(2))
UNREAD = (opened(1), striking("unread-reset", connection=1), unserved(1), closed(1), struck(2))

AFTER_GIVEN_UP = run(planned("reset-after"), AFTER, lost())
BEFORE_GIVEN_UP = run(planned("reset-before"), BEFORE, lost())
AFTER_RETRIED = run(planned("reset-after"), [*AFTER, *RETRIED], ok(execution=2))
BEFORE_RETRIED = run(planned("reset-before"), [*BEFORE, *RETRIED], ok(execution=2))


def _said(a: Run, b: Run) -> list[Verdict]:
    findings = judge_twins(a, b)
    assert all((f.check, f.claim, f.proof) == ("twins", Claim.MUST, Proof.CAUSE) for f in findings)
    return [finding.verdict for finding in findings]


def test_the_same_decision_and_the_same_outcome_pass() -> None:
    """Both given up, or both sent again with the same end (which other checks judge)."""
    assert _said(AFTER_GIVEN_UP, BEFORE_GIVEN_UP) == [PASS]
    assert _said(AFTER_RETRIED, BEFORE_RETRIED) == [PASS]


WAITING = PlannedListener(fault="expect-fin", upstream=0)
EXPECTED = Plan(operations=(PlannedOperation(expect=True),), listeners=(WAITING,), upstreams=2)
AT_EXPECTATION = (
    opened(1),
    striking("expect-fin", connection=1),
    unserved(1),
    closed(1, EndedBy.ROUTER_FIN),
    struck(2),
)
AFTER_FIN = (received(1), accepted(1), executed(1, 1), striking("fin-after", exchange=1), closed(1), struck(4))


def test_who_was_given_no_body_yet_need_not_send_it_again() -> None:
    """Its caller withholds it until there is a 100; that it sends again where it must not is still a difference."""
    given_up, again = run(EXPECTED, AT_EXPECTATION, lost()), [*AT_EXPECTATION, opened(2, 1), *served(2, 1, upstream=1)]
    assert _said(given_up, run(planned("fin-after"), [*AFTER_FIN, *RETRIED], ok(execution=2))) == []
    assert _said(run(EXPECTED, again, ok()), run(planned("fin-after"), AFTER_FIN, lost())) == [FAIL]


@pytest.mark.parametrize(
    ("a", "b"), [(AFTER_GIVEN_UP, BEFORE_RETRIED), (AFTER_RETRIED, BEFORE_GIVEN_UP), (BEFORE_RETRIED, AFTER_GIVEN_UP)]
)
def test_another_decision_on_the_same_evidence_fails(a: Run, b: Run) -> None:
    """One was sent again and the other was not: the subject cannot have known the difference."""
    assert _said(a, b) == [FAIL]


def test_another_answer_to_the_caller_on_the_same_evidence_fails() -> None:
    """The same decision, but another status, or another kind of outcome."""
    assert _said(AFTER_GIVEN_UP, run(planned("reset-before"), BEFORE, lost(status=504))) == [FAIL]
    assert _said(AFTER_GIVEN_UP, run(planned("reset-before"), BEFORE, ok(body=b"?"), subject=PROXY)) == [FAIL]


def test_who_gets_no_answer_while_writing_has_seen_no_other_decision() -> None:
    """With a long request alone, and only where neither says anything of the work."""
    nothing = lost(status=None, arrival=Arrival.NOTHING)
    for body_bytes, expected in ((0, [FAIL]), (2_000_000, [PASS])):
        a, b = (_sized(fault, body_bytes) for fault in ("reset-after", "reset-before"))
        assert _said(run(a, AFTER, lost()), run(b, BEFORE, nothing)) == expected
        assert _said(run(a, AFTER, lost()), run(b, BEFORE, lost(status=504))) == [FAIL]
        assert _said(run(a, AFTER, nothing), run(b, BEFORE, failed())) == [FAIL]


def _sized(fault: str, body_bytes: int) -> Plan:
    plan = planned(fault)
    return replace(plan, operations=(replace(plan.operations[0], body_bytes=body_bytes),))


def test_the_finding_names_both_sides() -> None:
    """Fault, operation and attempt of each, what both saw, and what differed."""
    (finding,) = judge_twins(AFTER_GIVEN_UP, BEFORE_RETRIED)
    assert finding.says == (
        "twins 'reset-after' (operation 1001, attempt 1 on upstream 0) and 'reset-before' (operation 1001, attempt 1 "
        "on upstream 0): after a reset before any reply byte, the operation was not sent again after one, sent again "
        "after the other"
    )
    assert finding.entries == (1, 2, 3, 4, 6)


def test_a_side_that_proves_nothing_has_no_twin() -> None:
    """Vacuous or unreachable on either side: nothing to add, the cell is UNKNOWN or not_run by itself."""
    vacuous = run(planned("reset-before"), [opened(1), *served(1, 1)], ok())
    unreachable = replace(BEFORE_RETRIED, unreachable="no keep-alive")
    for other in (vacuous, unreachable, replace(BEFORE_RETRIED, settled=False)):
        assert _said(AFTER_GIVEN_UP, other) == []
        assert _said(other, AFTER_GIVEN_UP) == []


def test_a_reset_at_accept_is_never_compared() -> None:
    """Whether a byte had been written is not known, so no other fault certainly gave the same evidence."""
    at_accept = (opened(1), striking("accept-reset", connection=1), closed(1), struck(2))
    assert _said(run(held("accept-reset"), at_accept, lost()), BEFORE_RETRIED) == []


def test_a_listener_fault_has_its_twin_among_exchange_faults() -> None:
    """Reset unread and reset after EXECUTE look the same."""
    assert _said(run(held("unread-reset"), UNREAD, lost()), AFTER_GIVEN_UP) == [PASS]
    assert _said(run(held("unread-reset"), UNREAD, lost()), AFTER_RETRIED) == [FAIL]


def test_outcomes_are_compared_only_where_all_evidence_was_the_same() -> None:
    """A second sending that met another fault excuses another end: the decision alone is compared."""
    both = steps(
        UNREAD,
        [opened(2), striking("unread-reset", connection=2), unserved(2), closed(2), struck(7)],
    )
    assert _said(run(held("unread-reset"), both, lost()), AFTER_RETRIED) == [PASS]


def test_a_dial_at_an_unknown_time_is_compared_with_nothing() -> None:
    """Without a packet witness nobody saw what came before what."""
    unseen = [striking("syn-dropped"), *served(1, 1, upstream=1), struck(1, Witness.SK_DROPS)]
    seen = [striking("syn-dropped"), dialled(0, 5001, refused=False), *served(1, 1, upstream=1)]
    a = run(held("syn-dropped"), unseen, ok())
    b = run(held("syn-dropped"), [*seen, struck(1, Witness.PACKET)], lost())
    assert _said(a, b) == _said(b, a) == []
    assert _said(b, b) == [PASS]


def test_different_evidence_is_no_twin() -> None:
    """A reset and a FIN may be treated differently."""
    fin = [received(1), striking("fin-before", exchange=1), closed(1), struck(2), *RETRIED]
    assert _said(AFTER_GIVEN_UP, run(planned("fin-before"), fin, ok(execution=2))) == []


def test_runs_of_different_shapes_are_refused() -> None:
    """Plans that differ in more than a fault cannot be held against each other."""
    two = replace(AFTER_GIVEN_UP, plan=Plan(operations=(PlannedOperation(), PlannedOperation())))
    with pytest.raises(ValueError, match="1 and 2 operations"):
        judge_twins(AFTER_GIVEN_UP, two)


def test_every_twin_of_the_catalogue_has_the_evidence_that_is_compared() -> None:
    """The walk stops where evidence differs, so a pair of the catalogue that differs would never be compared."""
    pairs = [(fault, CATALOGUE[fault.twin]) for fault in CATALOGUE.values() if fault.twin is not None]
    assert pairs
    assert [(one.id, other.id) for one, other in pairs if one.evidence != other.evidence] == []
