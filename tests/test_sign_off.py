"""A sign-off made of two literal reports: verdict, decisions, what is excused, and the lines that matter."""

import datetime as dt
from typing import Any

import pytest

from signoff.allowances import AllowanceError, Allowed, load_allowances
from signoff.report import CellReport, Report
from signoff.sign_off import SignOff
from signoff.signing_off import sign_off_of
from tests.literal_reports import RETRIED, broken, cell, literal_report

TODAY = dt.date(2026, 11, 30)
TRUE: dict[str, Any] = {"truth": "executed", "evidence": "whole reply with a status 503", "phase": "status"}
GAVE_UP = cell(outcome="unknown", status=502, **TRUE)
SENT_AGAIN = broken(RETRIED, attempts=2, executions=2, **TRUE)


def signed_off(base: CellReport | Report, candidate: CellReport | Report, **options: Any) -> SignOff:
    """The sign-off of two reports, or of one cell each."""
    sides = [side if isinstance(side, Report) else literal_report(side) for side in (base, candidate)]
    given: dict[str, Any] = {"paths": ("base/report.json", "candidate/report.json"), "strict": False, "today": TODAY}
    return sign_off_of(*sides, **{**given, **options})


def allowed(**changes: Any) -> tuple[Allowed, ...]:
    """One allowance."""
    given = {"cells": "wait/*", "reason": "known", "owner": "me", "expires": TODAY}
    return (Allowed(**{**given, **changes}),)


def test_a_must_that_is_broken_now_blocks() -> None:
    assert (signed_off(GAVE_UP, SENT_AGAIN).verdict, signed_off(GAVE_UP, SENT_AGAIN).exit) == ("BLOCK", 1)


def test_what_only_one_side_proved_is_unproven() -> None:
    found = signed_off(GAVE_UP, cell(verdict="UNKNOWN", **TRUE))
    assert (found.verdict, found.exit) == ("UNPROVEN", 3)


def test_what_is_not_whole_claims_no_verdict() -> None:
    found = signed_off(GAVE_UP, SENT_AGAIN, partial="interrupted")
    assert (found.verdict, found.exit) == ("UNPROVEN", 4)


def test_a_changed_decision_has_the_sentence_that_a_reviewer_needs() -> None:
    (decision,) = signed_off(GAVE_UP, SENT_AGAIN).decisions
    assert decision.says == "503, after the work was done: gave up, now sends again (executed twice)"


def test_the_first_line_that_matters_is_what_regresses() -> None:
    assert (
        signed_off(GAVE_UP, SENT_AGAIN)
        .matter[0]
        .startswith("1 cell regresses (safe-retry): 503, after the work was done")
    )


@pytest.mark.parametrize("change", [{"tells": True}, {"truth": ""}, {"dimensions": {"leaves": "fin"}}])
def test_a_cell_whose_decision_is_not_judged_is_in_no_decision_table(change: dict[str, Any]) -> None:
    given = {"outcome": "unknown", **TRUE, **change}
    assert signed_off(cell(**given), cell(**{**given, "attempts": 2})).decisions == ()


def test_a_regression_that_is_allowed_does_not_block() -> None:
    found = signed_off(GAVE_UP, SENT_AGAIN, allowed=allowed())
    assert (found.verdict, found.cells[0].excused, found.allowances[0].state) == ("MAY SHIP", 0, "used")


def test_an_allowance_excuses_until_its_day_is_over() -> None:
    found = signed_off(GAVE_UP, SENT_AGAIN, allowed=allowed(expires=TODAY - dt.timedelta(days=1)))
    assert (found.verdict, found.cells[0].excused, found.allowances[0].state) == ("BLOCK", None, "expired")


def test_an_allowance_that_excuses_nothing_is_reported() -> None:
    found = signed_off(GAVE_UP, GAVE_UP, allowed=allowed())
    assert (found.allowances[0].state, found.verdict) == ("unused", "MAY SHIP")
    assert found.matter == ("1 allowance to take out of the file: 'wait/*' excuses nothing",)


@pytest.mark.parametrize(
    ("cells", "state"),
    [("status/503-after/first", "not examined"), ("drawn/0199", "not examined"), ("status/no-such-*", "unused")],
)
def test_an_allowance_for_what_was_not_chosen_is_not_one_that_excuses_nothing(cells: str, state: str) -> None:
    """What names nothing at all is."""
    found = signed_off(GAVE_UP, GAVE_UP, allowed=allowed(cells=cells))
    assert found.allowances[0].state == state
    assert (found.matter == ("no cell differs",)) is (state == "not examined")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[allow]]\ncells='a'\nreason='b'\nowner='c'\nexpires='soon'", "expires is 'soon'; expected a day"),
        ("[[allow]]\ncells='a'\nreason=''\nowner='c'\nexpires=2027-01-01", "reason is ''; expected a text"),
        ("[[allow]]\ncells='a'\nwhy='b'", "'why' is no key; expected cells"),
        ("[[allow]]\ncells='a'\nreason='b'\nowner='c'\nexpires=2027-01-01T00:00:00", "expected a day"),
        ("[[allow]]\ncells='a'\nreason=\"b\\u001b\"\nowner='c'\nexpires=2027-01-01", "expected a text"),
        ("other = 3\n[[allow]]\ncells='a'\nreason='b'\nowner='c'\nexpires=2027-01-01", "'other'; expected tables"),
        ("allow = 3", "'allow'; expected tables"),
        ("[[allow]", "expected TOML"),
    ],
)
def test_a_malformed_allowance_quotes_the_value(tmp_path: Any, text: str, says: str) -> None:
    path = tmp_path / "allow.toml"
    path.write_text(text)
    with pytest.raises(AllowanceError, match="allowances") as caught:
        load_allowances(path)
    assert says in str(caught.value)
