"""Base against candidate, on literal reports: each rule of a sign-off, and what it does to the exit code."""

import datetime as dt

import pytest
from msgspec.structs import replace

from signoff import comparison, rules
from signoff.comparison import CellChange, compare
from signoff.report import CellReport
from signoff.rules import Change
from signoff.signing_off import sign_off_of
from tests.comparison_rows import NOT_RUN, PASSED, RULES, UNPROVEN
from tests.literal_reports import LOST, RETRIED, TWICE, broken, cell, literal_report


def compared(base: CellReport, candidate: CellReport) -> tuple[CellChange, ...]:
    """One cell of each side."""
    return compare(literal_report(base), literal_report(candidate))


def exit_of(base: CellReport, candidate: CellReport, *, strict: bool) -> int:
    """The exit code of a sign-off of these."""
    sides = literal_report(base), literal_report(candidate)
    return sign_off_of(*sides, paths=("", ""), strict=strict, today=dt.date(2026, 11, 30)).exit


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


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_rule_that_is_turned_off_fails_its_own_test(rule: rules.Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row above that names it comes out otherwise; and no row that comes out as it did needs another name."""
    monkeypatch.setattr(comparison, "RULES", tuple(one for one in rules.RULES if one is not rule))
    wrong = [named for _, named, base, candidate, change, _ in RULES if compared(base, candidate)[0].change != change]
    assert rule.__name__ in wrong


def test_every_row_names_the_rule_that_decides_it() -> None:
    """The first that says something; None: none does."""
    for says, named, base, candidate, *_ in RULES:
        first = next((rule.__name__ for rule in rules.RULES if rule(base, candidate)), None)
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
    assert (one.change, one.about) == (Change.SAME, rules.TOLD)
    assert one.says == "tells otherwise: 1 attempts, ok 200; now 2 attempts, unknown 502"


def test_a_safe_retry_that_is_won_or_lost_is_called_so() -> None:
    """What makes the outcome a better or a poorer one, where one side's alone is missing."""
    missing = replace(LOST, check="safe-retry-made")
    gives_up = cell(findings=(missing,), warnings=1, outcome="failed")
    gives_up_otherwise = replace(gives_up, outcome="unknown")
    (won,), (lost,), (poorer,) = (
        compared(*pair) for pair in ((gives_up, cell()), (cell(), gives_up), (gives_up, gives_up_otherwise))
    )
    assert (won.change, won.about) == (Change.STRONGER, "a safe retry is made that was not")
    assert (lost.change, lost.about) == (Change.WEAKER, "a safe retry is lost")
    assert (poorer.change, poorer.about) == (Change.WEAKER, "outcome failed is now unknown")


def test_what_costs_more_is_one_kind_whatever_the_numbers() -> None:
    """Of attempts and of warnings."""
    twice, thrice = (replace(PASSED, attempts=number) for number in (2, 3))
    warned = replace(PASSED, findings=(LOST,), warnings=1)
    dearer = [compared(PASSED, now)[0] for now in (twice, thrice, warned)]
    assert [one.about for one in dearer] == [*["more attempts for the same outcome"] * 2, "more warnings"]
    assert dearer[0].says == "more attempts for the same outcome: 1, now 2"
    cheaper = [compared(was, PASSED)[0].about for was in (twice, warned)]
    assert cheaper == ["fewer attempts for the same outcome", "fewer warnings"]


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
