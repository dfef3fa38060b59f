"""The verdict of a sign-off: each of its rules, and what becomes of the verdict without it; the lines that matter."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from signoff import allowances, decisions, signing_off
from signoff.report import CellReport, Report
from signoff.sign_off import SignOff
from tests.literal_reports import DEAD, RETRIED, broken, cell, literal_report
from tests.test_sign_off import SENT_AGAIN, TODAY, TRUE, allowed, signed_off

PASSED = cell(id="a/passed/first", phase="status")
UNKNOWN = cell(verdict="UNKNOWN", reason="it did not strike")
NOT_RUN = cell(verdict="not_run", outcome="", attempts=0, executions=0, status=None)
ANYTHING = allowed(cells="*")

Made = Callable[[], SignOff]
VERDICTS: list[tuple[str, str | None, Made, str, int]] = [
    ("nothing differs", None, lambda: signed_off(PASSED, PASSED), "MAY SHIP", 0),
    ("a cell regresses", "blocks", lambda: signed_off(cell(), broken(RETRIED)), "BLOCK", 1),
    ("a fault kills the candidate", "blocks", lambda: signed_off(cell(), broken(DEAD)), "BLOCK", 1),
    ("it is not whole", "not_whole", lambda: signed_off(PASSED, PASSED, partial="disk full"), "UNPROVEN", 4),
    ("it is not whole, and regresses", "not_whole", lambda: signed_off(cell(), SENT_AGAIN, partial="x"), "UNPROVEN", 4),
    ("it was interrupted", "not_whole", lambda: signed_off(PASSED, PASSED, partial="x", code=130), "UNPROVEN", 130),
    ("a side proved nothing", "leaves_open", lambda: sides((PASSED, PASSED), (cell(), UNKNOWN)), "UNPROVEN", 3),
    (
        "one blocks and one is open",
        "blocks",
        lambda: sides((PASSED, broken(DEAD, id=PASSED.id)), (cell(), UNKNOWN)),
        "BLOCK",
        1,
    ),
    ("neither side could run", "compares_nothing", lambda: signed_off(NOT_RUN, NOT_RUN), "UNPROVEN", 3),
    (
        "nothing is compared, all is excused",
        "compares_nothing",
        lambda: signed_off(cell(), UNKNOWN, allowed=ANYTHING),
        "UNPROVEN",
        3,
    ),
    (
        "nothing that was lived through can be compared, all is excused",
        "compares_nothing",
        lambda: signed_off(cell(), cell(plan={"schema": 1}), allowed=ANYTHING),
        "UNPROVEN",
        3,
    ),
    (
        "it promises less",
        "promised_before",
        lambda: signed_off(promising("futures"), promising("answering")),
        "UNPROVEN",
        3,
    ),
    ("it promises another thing", "promised_before", lambda: signed_off(promising("x"), promising("y")), "UNPROVEN", 3),
    ("it promises more", None, lambda: signed_off(promising("transparent"), promising("answering")), "MAY SHIP", 0),
    ("no cells at all", "compares_nothing", lambda: signed_off(literal_report(), literal_report()), "UNPROVEN", 3),
    (
        "what is open is excused",
        None,
        lambda: sides((PASSED, PASSED), (cell(), UNKNOWN), allowed=ANYTHING),
        "MAY SHIP",
        0,
    ),
    ("still broken", None, lambda: signed_off(broken(DEAD), broken(DEAD)), "MAY SHIP", 0),
    ("still broken, strictly", "blocks", lambda: signed_off(broken(DEAD), broken(DEAD), strict=True), "BLOCK", 1),
    ("weaker", None, lambda: signed_off(cell(), cell(attempts=2)), "MAY SHIP", 0),
]


def promising(promises: str, *cells: CellReport) -> Report:
    """Cells of a subject that promises that."""
    report = literal_report(*cells or [PASSED])
    return replace(report, subject=replace(report.subject, promises=promises))


def sides(*pairs: tuple[CellReport, CellReport], **options: Any) -> SignOff:
    """Of several cells, each on both sides."""
    base, candidate = zip(*pairs, strict=True)
    return signed_off(literal_report(*base), literal_report(*candidate), **options)


@pytest.mark.parametrize(("made", "verdict", "code"), [row[2:] for row in VERDICTS], ids=[row[0] for row in VERDICTS])
def test_every_rule_of_the_verdict(made: Made, verdict: str, code: int) -> None:
    assert (made().verdict, made().exit) == (verdict, code)


@pytest.mark.parametrize("rule", signing_off.VERDICTS, ids=lambda rule: rule.__name__)
def test_a_rule_of_the_verdict_that_is_turned_off_fails_its_own_test(
    rule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_off, "VERDICTS", tuple(one for one in signing_off.VERDICTS if one is not rule))
    assert rule.__name__ in [named for _, named, made, verdict, _ in VERDICTS if made().verdict != verdict]


EXPIRED = allowed(expires=TODAY - dt.timedelta(days=1))
ALLOWANCES: list[tuple[str, Any, str, Made, str]] = [
    (
        "one that has expired",
        allowances.Allowed,
        "has_expired",
        lambda: signed_off(cell(), broken(DEAD), allowed=EXPIRED),
        "BLOCK",
    ),
    (
        "another cell's",
        allowances,
        "fnmatchcase",
        lambda: signed_off(cell(), broken(DEAD), allowed=allowed(cells="x")),
        "BLOCK",
    ),
    ("what needs none", allowances, "needs_excuse", lambda: signed_off(PASSED, PASSED, allowed=ANYTHING), "unused"),
]


@pytest.mark.parametrize(
    ("where", "name", "made", "so"), [row[1:] for row in ALLOWANCES], ids=[r[0] for r in ALLOWANCES]
)
def test_a_rule_of_allowances_that_is_turned_off_fails_its_own_test(
    where: Any, name: str, made: Made, so: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On, it says what it should; off, it does not."""
    assert so in (made().verdict, made().allowances[0].state)
    monkeypatch.setattr(where, name, lambda *_, **__: name != "has_expired")
    assert so not in (made().verdict, made().allowances[0].state)


def status(number: int, truth: str, **changes: Any) -> CellReport:
    """One cell of that status, which gave up."""
    id_ = f"status/{number}-{truth.replace(' ', '-')}/first"
    given = {**TRUE, "truth": truth, "evidence": f"whole reply with a status {number}", "id": id_, "outcome": "unknown"}
    return cell(**{**given, "executions": int(truth == "executed"), **changes})


def again(was: CellReport, executions: int) -> CellReport:
    """The same cell, sent again."""
    return replace(was, attempts=2, executions=executions, verdict="FAIL", findings=(RETRIED,), outcome="ok")


def test_what_changes_alike_is_told_in_one_sentence() -> None:
    """All statuses, and of both twins the one whose work is done twice."""
    done = [status(number, "executed") for number in (500, 502, 503)]
    lost = [status(number, "not executed") for number in (500, 502, 503)]
    found = sides(*((was, again(was, 2)) for was in done), *((was, again(was, 1)) for was in lost))
    assert found.matter[0] == (
        "6 cells regress (safe-retry): 500, 502 and 503, after the work was done: gave up, now sends again "
        "(executed twice)"
    )
    twins = [(row.evidence, row.truth, row.base.does, row.candidate.does) for row in found.decisions[:2]]
    assert twins == [
        ("500", "executed", decisions.GIVES_UP, decisions.SENDS_AGAIN),
        ("500", "not executed", decisions.GIVES_UP, decisions.SENDS_AGAIN),
    ]


def test_more_kinds_than_a_sentence_holds_are_counted() -> None:
    done = [status(number, "executed") for number in (500, 501, 502, 503, 504, 505)]
    found = sides(*((was, again(was, 2)) for was in done))
    assert "500, 501, 502 and 3 more kinds of evidence, after the work was done" in found.matter[0]


def test_sending_more_often_than_before_is_a_changed_decision() -> None:
    """Though both send again."""
    was = status(503, "not executed", attempts=2, executions=1)
    (decision,) = signed_off(was, replace(was, attempts=4)).decisions
    assert decision.says == "503, before any work was done: sent 2 times, now 4 times"


def test_of_a_row_that_changes_in_two_ways_the_sending_is_told() -> None:
    """However rare it is; the cells in which it is so are counted."""
    rows = [status(503, "executed", id=f"status/503/{n}") for n in range(3)]
    stopped = [replace(one, attempts=2) for one in rows[:2]]
    pairs = [*((was, one) for was, one in zip(stopped, rows[:2], strict=True)), (rows[2], again(rows[2], 2))]
    (decision,) = sides(*pairs).decisions
    assert decision.says == "503, after the work was done: gave up, now sends again (executed twice), in 1 of 3 cells"


def test_a_contract_that_only_the_candidate_has_shows_in_the_class() -> None:
    was = status(503, "not executed")
    (decision,) = signed_off(was, replace(was, class_="SAFE")).decisions
    assert decision.class_ == "AMBIGUOUS -> SAFE"


def test_what_is_excused_is_told_and_what_is_stale_is_too() -> None:
    stale = (*ANYTHING, *allowed(cells="gone/*"))
    found = signed_off(cell(), broken(DEAD), allowed=stale)
    assert found.matter == (
        "1 cell is excused, such as wait/reset-after/first: survives: died, and again alone",
        "1 allowance to take out of the file: 'gone/*' excuses nothing",
    )


def test_what_is_unproven_says_what_the_candidate_breaks_all_the_same() -> None:
    """Nobody knows whether the must held before; a reader must not miss that it does not hold now."""
    (one,) = signed_off(UNKNOWN, broken(DEAD)).cells
    assert one.says == "base is UNKNOWN: it did not strike; the candidate breaks survives"


def test_a_call_that_nobody_counted_and_that_succeeds_after_all_was_made_again() -> None:
    """The first one came to nothing: the name did not lead to a router."""
    facts = {"phase": "resolve", "evidence": "name not resolved", "class_": "SAFE", "attempts": None}
    was = status(503, "not executed", **facts, outcome="failed")
    (decision,) = signed_off(was, replace(was, outcome="ok", executions=1)).decisions
    assert decision.says == (
        "name not resolved, before any work was done: gave up, now sends again; the evidence proves that nothing ran"
    )


def test_what_a_drawn_plan_tells_is_not_compared() -> None:
    """It is lived through once: nobody knows whether it varies."""
    sides_ = [cell(tells=True, dimensions={"drawn": True}, attempts=n) for n in (1, 2)]
    assert signed_off(*sides_).cells[0].says == ""


def test_what_a_stall_delayed_is_no_longer_waiting() -> None:
    silent = {"evidence": "silence until the read timeout", "truth": "executed", "outcome": "unknown", "phase": "wait"}
    late = signed_off(cell(**silent), cell(**silent, delay_ms=900.0, stalled=True))
    assert late.giving_up == ()


def test_what_tells_the_same_once_both_take_turns_is_no_difference() -> None:
    """It is marked as what varies, on both sides."""
    (one,) = signed_off(cell(tells=True), cell(tells=True, attempts=2), varying={"wait/reset-after/first"}).cells
    assert one.base is not None
    assert one.candidate is not None
    assert (one.says, one.base.varies, one.candidate.varies) == ("", True, True)


def test_what_went_the_same_way_in_turns_is_no_changed_decision() -> None:
    was = status(503, "executed")
    assert signed_off(was, again(was, 2)).decisions[0].changed
    assert signed_off(was, replace(was, attempts=2, outcome="ok"), varying={was.id}).decisions == ()
