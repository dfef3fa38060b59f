"""The lines of a sign-off that matter, and what both sides state of themselves."""

from typing import Any

import pytest
from msgspec.structs import replace

from signoff.decisions import did
from signoff.report import CellReport, Worked
from tests.literal_reports import DEAD, broken, cell, literal_report
from tests.test_sign_off import signed_off
from tests.test_sign_off_verdicts import PASSED, promising, sides, status


def test_a_candidate_of_which_less_was_judged_is_told_before_what_looks_better() -> None:
    """Who no longer promises valid answers may pass garbage on: its caller then seems to hold a result."""
    garbage = cell(outcome="unknown")
    found = signed_off(promising("answering", garbage), promising("transparent", replace(garbage, outcome="ok")))
    assert found.matter[0] == (
        "the candidate promises 'transparent', the base 'answering': what only the base promises was not judged of "
        "the candidate"
    )


@pytest.mark.parametrize("was", [cell(outcome="unknown"), broken(DEAD), cell(attempts=2)])
def test_a_candidate_of_which_less_was_judged_is_neither_fixed_nor_stronger(was: CellReport) -> None:
    """And who promises more is."""
    now = cell()
    (one,) = signed_off(promising("answering", was), promising("transparent", now)).cells
    assert one.change == "unproven"
    (other,) = signed_off(promising("transparent", was), promising("answering", now)).cells
    assert other.change in ("fixed", "stronger")


def test_what_both_state_otherwise_is_noted() -> None:
    """More promises, and another contract: neither is a must that was broken."""
    more = promising("answering")
    contract = replace(more, subject=replace(more.subject, contract=({"status": 503, "body": "full"},)))
    said = [signed_off(promising("transparent"), more).notes, signed_off(more, contract).notes]
    assert [note.partition(":")[0] for (note,) in said] == [
        "the candidate promises 'answering', the base 'transparent'",
        "both name other answers as 'not accepted'",
    ]


def test_what_changed_in_one_cell_of_a_row_is_not_said_of_another() -> None:
    """Both met the same evidence; the one that regresses was sent as often as before."""
    stopped, dead = status(503, "executed", id="status/503/1"), status(503, "executed", id="status/503/2")
    found = sides((replace(stopped, attempts=2), stopped), (dead, replace(dead, verdict="FAIL", findings=(DEAD,))))
    assert found.matter[0] == "1 cell regresses, such as status/503/2: survives: died, and again alone"


def test_work_that_stays_the_same_is_no_line_that_matters() -> None:
    work = Worked(mix="m", origin="o", per_1000=10.0, operations=200, lost=5, doubled=0)
    report = replace(literal_report(PASSED), work=work)
    assert signed_off(report, report).matter == ("no cell differs",)
    assert "lost 0.25 -> 0.3" in signed_off(report, replace(report, work=replace(work, lost=6))).matter[0]


@pytest.mark.parametrize(
    ("changes", "does"),
    [
        ({"attempts": None, "executions": 2}, "sends again"),  # whoever runs twice was sent twice
        ({"attempts": None, "phase": "request"}, "answers"),  # the first sending may be the one that is answered
        ({"attempts": None, "phase": "connect"}, "sends again"),  # it came to nothing
        ({"attempts": None, "phase": "connect", "outcome": "unknown"}, "gives up"),
    ],
)
def test_what_was_done_where_nobody_counted_is_learnt_from_what_came_of_it(changes: dict[str, Any], does: str) -> None:
    one = status(503, "executed", **{"outcome": "ok", **changes})
    assert did([one]).does == does


def test_where_nobody_counted_nobody_says_that_another_number_was_sent() -> None:
    was = status(503, "executed", attempts=None, executions=2)
    (decision,) = signed_off(was, replace(was, attempts=2)).decisions
    assert (decision.changed, decision.base.does, decision.candidate.does) == (False, "sends again", "sends again")


def test_a_row_of_which_cells_go_now_this_way_now_that_varies() -> None:
    one = status(503, "executed")
    assert did([one, replace(one, attempts=2)]).does == "varies"
    assert did([]).does == "not run"
