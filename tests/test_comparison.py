"""Base against candidate, on literal reports: each rule of a sign-off, and what it does to the exit code."""

import datetime as dt

import pytest
from msgspec.structs import replace

from signoff import comparison
from signoff.comparison import CellChange, Change, compare
from signoff.report import CellReport
from signoff.signing_off import sign_off_of
from tests.literal_reports import DEAD, LOST, NOT_COUNTED, OPEN, RETRIED, TOLD, TWICE, broken, cell, literal_report


def compared(base: CellReport, candidate: CellReport) -> tuple[CellChange, ...]:
    """One cell of each side."""
    return compare(literal_report(base), literal_report(candidate))


def exit_of(base: CellReport, candidate: CellReport, *, strict: bool) -> int:
    """The exit code of a sign-off of these."""
    sides = literal_report(base), literal_report(candidate)
    return sign_off_of(*sides, paths=("", ""), strict=strict, today=dt.date(2026, 11, 30)).exit


PASSED = cell()
UNPROVEN = cell(verdict="UNKNOWN", reason="the fault did not strike")
NOT_RUN = cell(verdict="not_run", reason="needs CAP_NET_RAW", attempts=0, executions=0, outcome="", status=None)
TELLS = cell(tells=True, findings=(TOLD,))

RULES = [
    ("a must that held is broken", "regressed", PASSED, broken(RETRIED), Change.REGRESSED, (1, 1)),
    ("another must is broken than before", "regressed", broken(RETRIED), broken(TWICE), Change.REGRESSED, (1, 1)),
    ("one more must is broken", "regressed", broken(RETRIED), broken(RETRIED, TWICE), Change.REGRESSED, (1, 1)),
    ("the same must is broken", "still_broken", broken(RETRIED), broken(RETRIED), Change.STILL_BROKEN, (0, 1)),
    (
        "one of two broken musts holds again",
        "still_broken",
        broken(RETRIED, TWICE),
        broken(TWICE),
        Change.STILL_BROKEN,
        (0, 1),
    ),
    ("what held is open now", "left_open", broken(RETRIED), broken(RETRIED, OPEN), Change.UNPROVEN, (3, 3)),
    ("what was open is broken", "left_open", broken(RETRIED, OPEN), broken(RETRIED, TWICE), Change.UNPROVEN, (3, 3)),
    ("what was open is open", "left_open", broken(RETRIED, OPEN), broken(RETRIED, OPEN), Change.UNPROVEN, (3, 3)),
    ("one is open, another regresses", "regressed", broken(RETRIED), broken(DEAD, OPEN), Change.REGRESSED, (1, 1)),
    (
        "what was broken is open",
        "still_broken",
        broken(RETRIED, TWICE),
        broken(RETRIED, OPEN),
        Change.STILL_BROKEN,
        (0, 1),
    ),
    ("what was open holds", "fixed", broken(RETRIED, OPEN), PASSED, Change.FIXED, (0, 0)),
    (
        "broken in one operation, open in another",
        "still_broken",
        broken(TWICE),
        broken(TWICE, OPEN),
        Change.STILL_BROKEN,
        (0, 1),
    ),
    (
        "open in another operation before",
        "still_broken",
        broken(TWICE, OPEN),
        broken(TWICE),
        Change.STILL_BROKEN,
        (0, 1),
    ),
    ("a must that was broken holds", "fixed", broken(RETRIED), PASSED, Change.FIXED, (0, 0)),
    ("fixed, though it warns", "fixed", broken(RETRIED), cell(findings=(LOST,), warnings=1), Change.FIXED, (0, 0)),
    ("a safe retry is lost", "warnings", PASSED, cell(findings=(LOST,), warnings=1), Change.WEAKER, (0, 0)),
    ("a safe retry is made now", "warnings", cell(findings=(LOST,), warnings=1), PASSED, Change.STRONGER, (0, 0)),
    (
        "a safe retry that nobody can count now",
        None,
        cell(findings=(LOST,), warnings=1),
        cell(findings=(NOT_COUNTED,)),
        Change.SAME,
        (0, 0),
    ),
    (
        "a safe retry that nobody could count",
        None,
        cell(findings=(NOT_COUNTED,)),
        cell(findings=(LOST,), warnings=1),
        Change.SAME,
        (0, 0),
    ),
    ("a result became not knowing", "outcome", PASSED, cell(outcome="unknown", status=502), Change.WEAKER, (0, 0)),
    ("a result became 'not executed'", "outcome", PASSED, cell(outcome="failed", status=503), Change.WEAKER, (0, 0)),
    (
        "'not executed' became not knowing",
        "outcome",
        cell(outcome="failed"),
        cell(outcome="unknown"),
        Change.WEAKER,
        (0, 0),
    ),
    ("not knowing became a result", "outcome", cell(outcome="unknown"), PASSED, Change.STRONGER, (0, 0)),
    (
        "not knowing became 'not executed'",
        "outcome",
        cell(outcome="unknown"),
        cell(outcome="failed"),
        Change.STRONGER,
        (0, 0),
    ),
    (
        "a better outcome outweighs warnings and attempts",
        "outcome",
        cell(outcome="unknown"),
        cell(findings=(LOST,), warnings=1, attempts=3),
        Change.STRONGER,
        (0, 0),
    ),
    (
        "one caller is worse off, another better",
        "outcome",
        cell(outcome="ok, unknown", status=None),
        cell(outcome="unknown, ok", status=None),
        Change.WEAKER,
        (0, 0),
    ),
    (
        "one caller of several is better off",
        "outcome",
        cell(outcome="unknown, unknown", status=None),
        cell(outcome="unknown, ok", status=None),
        Change.STRONGER,
        (0, 0),
    ),
    ("more attempts for the same outcome", "attempts", PASSED, cell(attempts=2), Change.WEAKER, (0, 0)),
    ("fewer attempts for the same outcome", "attempts", cell(attempts=2), PASSED, Change.STRONGER, (0, 0)),
    ("attempts that nobody counted", None, PASSED, cell(attempts=None), Change.SAME, (0, 0)),
    ("another status for the same outcome", None, PASSED, cell(status=201), Change.SAME, (0, 0)),
    ("no difference", None, PASSED, PASSED, Change.SAME, (0, 0)),
    ("the candidate proved nothing", "unproven", PASSED, UNPROVEN, Change.UNPROVEN, (3, 3)),
    ("the base proved nothing", "unproven", UNPROVEN, PASSED, Change.UNPROVEN, (3, 3)),
    ("nobody knows whether it held", "unproven", UNPROVEN, broken(RETRIED), Change.UNPROVEN, (3, 3)),
    ("only the base could run it", "unproven", PASSED, NOT_RUN, Change.UNPROVEN, (3, 3)),
    ("only the candidate could run it", "unproven", NOT_RUN, PASSED, Change.UNPROVEN, (3, 3)),
    ("neither could run it: nothing was compared", "neither_ran", NOT_RUN, NOT_RUN, Change.SAME, (3, 3)),
    ("what only tells is never weaker", "told", TELLS, cell(tells=True, attempts=2), Change.SAME, (0, 0)),
    ("what only tells is never stronger", "told", cell(tells=True, outcome="unknown"), TELLS, Change.SAME, (0, 0)),
    ("what only tells and breaks a must", "regressed", TELLS, broken(TWICE, tells=True), Change.REGRESSED, (1, 1)),
    (
        "a fault kills the candidate, and kills it again alone",
        "regressed",
        PASSED,
        broken(DEAD),
        Change.REGRESSED,
        (1, 1),
    ),
    ("a fault kills both", "still_broken", broken(DEAD), broken(DEAD), Change.STILL_BROKEN, (0, 1)),
    (
        "a fault killed the candidate once",
        "unproven",
        PASSED,
        cell(verdict="UNKNOWN", reason="died once"),
        Change.UNPROVEN,
        (3, 3),
    ),
    ("a failure that names no must", "regressed", PASSED, cell(verdict="FAIL"), Change.REGRESSED, (1, 1)),
    (
        "other plans were lived through",
        "other_plans",
        PASSED,
        cell(plan={"schema": 1}, attempts=2),
        Change.UNPROVEN,
        (3, 3),
    ),
    (
        "other plans, and the candidate fails",
        "other_plans",
        PASSED,
        broken(TWICE, plan={"schema": 1}),
        Change.UNPROVEN,
        (3, 3),
    ),
    ("not as many operations", "other_plans", cell(outcome="ok, ok"), PASSED, Change.UNPROVEN, (3, 3)),
    (
        "neither could run another plan",
        "neither_ran",
        NOT_RUN,
        replace(NOT_RUN, plan={"schema": 1}),
        Change.SAME,
        (3, 3),
    ),
    (
        "what went the same way in turns",
        "varied",
        cell(varies=True),
        cell(varies=True, outcome="unknown"),
        Change.SAME,
        (0, 0),
    ),
    ("what varies by itself", "told", cell(tells=True, varies=True), cell(tells=True, warnings=1), Change.SAME, (0, 0)),
]


@pytest.mark.parametrize(
    ("base", "candidate", "change", "codes"), [rule[2:] for rule in RULES], ids=[r[0] for r in RULES]
)
def test_every_rule_of_a_sign_off(
    base: CellReport, candidate: CellReport, change: Change, codes: tuple[int, int]
) -> None:
    """Each rule on the smallest pair of reports that needs it; codes: without --strict, and with it."""
    assert [one.change for one in compared(base, candidate)] == [change]
    assert (exit_of(base, candidate, strict=False), exit_of(base, candidate, strict=True)) == codes


def test_every_change_has_a_rule() -> None:
    """A new change breaks the build until it is placed."""
    assert {rule[4] for rule in RULES} == set(Change)


@pytest.mark.parametrize("rule", comparison.RULES, ids=lambda rule: rule.__name__)
def test_a_rule_that_is_turned_off_fails_its_own_test(rule: comparison.Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row above that names it comes out otherwise; and no row that comes out as it did needs another name."""
    monkeypatch.setattr(comparison, "RULES", tuple(one for one in comparison.RULES if one is not rule))
    wrong = [named for _, named, base, candidate, change, _ in RULES if compared(base, candidate)[0].change != change]
    assert rule.__name__ in wrong


def test_every_row_names_the_rule_that_decides_it() -> None:
    """The first that says something; None: none does."""
    for says, named, base, candidate, *_ in RULES:
        first = next((rule.__name__ for rule in comparison.RULES if rule(base, candidate)), None)
        assert (says, first) == (says, named)


def test_a_cell_that_one_side_lacks_is_unproven_and_says_which() -> None:
    """In the base's order, then what only the candidate has."""
    changes = compare(literal_report(cell(id="both"), cell(id="old")), literal_report(cell(id="new"), cell(id="both")))
    assert [(one.id, one.change, one.says) for one in changes] == [
        ("both", Change.SAME, ""),
        ("old", Change.UNPROVEN, "only the base has this cell"),
        ("new", Change.UNPROVEN, "only the candidate has this cell"),
    ]


def test_what_is_told_otherwise_is_listed_and_counts_as_the_same() -> None:
    """In words."""
    (one,) = compared(cell(tells=True), cell(tells=True, attempts=2, outcome="unknown", status=502))
    assert (one.change, one.about) == (Change.SAME, comparison.TOLD)
    assert one.says == "tells otherwise: 1 attempts, ok 200; now 2 attempts, unknown 502"


@pytest.mark.parametrize("varies", ["base", "candidate"])
def test_what_varies_by_itself_does_not_tell_otherwise(varies: str) -> None:
    """A cell that told otherwise when it was repeated proves no difference between two subjects."""
    sides = [cell(tells=True, varies=varies == name, attempts=1 + (name == "base")) for name in ("base", "candidate")]
    assert compared(*sides)[0].says == ""


def test_a_difference_says_what_was_shown() -> None:
    """Regressed: the checks and the first failure; fixed: what it was; unproven: which side and why."""
    says = [
        compared(PASSED, broken(TWICE, RETRIED))[0].says,
        compared(broken(RETRIED), broken(RETRIED, TWICE))[0].says,
        compared(broken(RETRIED), PASSED)[0].says,
        compared(PASSED, UNPROVEN)[0].says,
        compared(NOT_RUN, PASSED)[0].says,
    ]
    assert says == [
        "at-most-once, safe-retry: was executed twice",
        "at-most-once: was executed twice",
        "was: was sent again",
        "candidate is UNKNOWN: the fault did not strike",
        "base was not run: needs CAP_NET_RAW",
    ]
