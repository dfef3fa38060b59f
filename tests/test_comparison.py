"""Base against candidate, on literal reports: each rule of a sign-off, and what it does to the exit code."""

import pytest

from signoff.comparison import Change, Comparison, compare
from signoff.report import CellReport
from tests.literal_reports import LOST, RETRIED, TOLD, TWICE, broken, cell, literal_report


def compared(base: CellReport, candidate: CellReport) -> Comparison:
    """One cell of each side."""
    return compare(literal_report(base), literal_report(candidate))


PASSED = cell()
UNPROVEN = cell(verdict="UNKNOWN", reason="the fault did not strike")
NOT_RUN = cell(verdict="not_run", reason="needs CAP_NET_RAW", attempts=0, executions=0, outcome="", status=None)
TELLS = cell(tells=True, findings=(TOLD,))

RULES = [
    ("a must that held is broken", PASSED, broken(RETRIED), Change.REGRESSED, (1, 1)),
    ("another must is broken than before", broken(RETRIED), broken(TWICE), Change.REGRESSED, (1, 1)),
    ("one more must is broken", broken(RETRIED), broken(RETRIED, TWICE), Change.REGRESSED, (1, 1)),
    ("the same must is broken", broken(RETRIED), broken(RETRIED), Change.STILL_BROKEN, (0, 1)),
    ("one of two broken musts holds again", broken(RETRIED, TWICE), broken(TWICE), Change.STILL_BROKEN, (0, 1)),
    ("a must that was broken holds", broken(RETRIED), PASSED, Change.FIXED, (0, 0)),
    ("fixed, though it warns", broken(RETRIED), cell(findings=(LOST,), warnings=1), Change.FIXED, (0, 0)),
    ("a safe retry is lost", PASSED, cell(findings=(LOST,), warnings=1), Change.WEAKER, (0, 0)),
    ("a safe retry is made now", cell(findings=(LOST,), warnings=1), PASSED, Change.STRONGER, (0, 0)),
    ("a result became not knowing", PASSED, cell(outcome="unknown", status=502), Change.WEAKER, (0, 0)),
    ("a result became 'not executed'", PASSED, cell(outcome="failed", status=503), Change.WEAKER, (0, 0)),
    ("'not executed' became not knowing", cell(outcome="failed"), cell(outcome="unknown"), Change.WEAKER, (0, 0)),
    ("not knowing became a result", cell(outcome="unknown"), PASSED, Change.STRONGER, (0, 0)),
    ("not knowing became 'not executed'", cell(outcome="unknown"), cell(outcome="failed"), Change.STRONGER, (0, 0)),
    (
        "a better outcome outweighs warnings and attempts",
        cell(outcome="unknown"),
        cell(findings=(LOST,), warnings=1, attempts=3),
        Change.STRONGER,
        (0, 0),
    ),
    (
        "one caller is worse off, another better",
        cell(outcome="ok, unknown", status=None),
        cell(outcome="unknown, ok", status=None),
        Change.WEAKER,
        (0, 0),
    ),
    (
        "one caller of several is better off",
        cell(outcome="unknown, unknown", status=None),
        cell(outcome="unknown, ok", status=None),
        Change.STRONGER,
        (0, 0),
    ),
    ("more attempts for the same outcome", PASSED, cell(attempts=2), Change.WEAKER, (0, 0)),
    ("fewer attempts for the same outcome", cell(attempts=2), PASSED, Change.STRONGER, (0, 0)),
    ("attempts that nobody counted", PASSED, cell(attempts=None), Change.SAME, (0, 0)),
    ("another status for the same outcome", PASSED, cell(status=201), Change.SAME, (0, 0)),
    ("no difference", PASSED, PASSED, Change.SAME, (0, 0)),
    ("the candidate proved nothing", PASSED, UNPROVEN, Change.UNPROVEN, (3, 3)),
    ("the base proved nothing", UNPROVEN, PASSED, Change.UNPROVEN, (3, 3)),
    ("nobody knows whether it held", UNPROVEN, broken(RETRIED), Change.UNPROVEN, (3, 3)),
    ("only the base could run it", PASSED, NOT_RUN, Change.UNPROVEN, (3, 3)),
    ("only the candidate could run it", NOT_RUN, PASSED, Change.UNPROVEN, (3, 3)),
    ("neither could run it: nothing was compared", NOT_RUN, NOT_RUN, Change.SAME, (3, 3)),
    ("what only tells is never weaker", TELLS, cell(tells=True, attempts=2), Change.SAME, (0, 0)),
    ("what only tells is never stronger", cell(tells=True, outcome="unknown"), TELLS, Change.SAME, (0, 0)),
    ("what only tells and breaks a must", TELLS, broken(TWICE, tells=True), Change.REGRESSED, (1, 1)),
]


@pytest.mark.parametrize(
    ("base", "candidate", "change", "codes"), [rule[1:] for rule in RULES], ids=[r[0] for r in RULES]
)
def test_every_rule_of_a_sign_off(
    base: CellReport, candidate: CellReport, change: Change, codes: tuple[int, int]
) -> None:
    """Each rule on the smallest pair of reports that needs it; codes: without --strict, and with it."""
    comparison = compared(base, candidate)
    assert [one.change for one in comparison.cells] == [change]
    assert (comparison.exit_code(strict=False), comparison.exit_code(strict=True)) == codes


def test_every_change_has_a_rule() -> None:
    """A new change breaks the build until it is placed."""
    assert {rule[3] for rule in RULES} == set(Change)


@pytest.mark.parametrize("regressed_first", [True, False])
def test_a_regression_blocks_whatever_else_is_unproven(regressed_first: bool) -> None:
    """1 wins over 3, and one cell is enough."""
    pairs = [(cell(id="a"), broken(RETRIED, id="a")), (cell(id="b"), cell(id="b", verdict="UNKNOWN"))]
    ordered = pairs if regressed_first else pairs[::-1]
    comparison = compare(literal_report(*(pair[0] for pair in ordered)), literal_report(*(pair[1] for pair in ordered)))
    assert comparison.exit_code(strict=False) == 1
    assert comparison.counts() == {Change.REGRESSED: 1, Change.UNPROVEN: 1}


def test_a_cell_that_one_side_lacks_is_unproven_and_says_which() -> None:
    """In the base's order, then what only the candidate has."""
    comparison = compare(
        literal_report(cell(id="both"), cell(id="old")), literal_report(cell(id="new"), cell(id="both"))
    )
    seen = [(one.id, one.change, one.says) for one in comparison.cells]
    assert seen == [
        ("both", Change.SAME, ""),
        ("old", Change.UNPROVEN, "only the base has this cell"),
        ("new", Change.UNPROVEN, "only the candidate has this cell"),
    ]
    assert comparison.exit_code(strict=False) == 3


def test_no_cells_at_all_prove_nothing() -> None:
    """Nothing was compared."""
    assert compare(literal_report(), literal_report()).exit_code(strict=False) == 3


def test_what_differs_is_listed_and_what_is_the_same_is_not() -> None:
    """A cell that tells otherwise is listed too, in words, and counts as the same."""
    told = (cell(id="told", tells=True), cell(id="told", tells=True, attempts=2, outcome="unknown", status=502))
    comparison = compare(literal_report(cell(id="same"), told[0]), literal_report(cell(id="same"), told[1]))
    assert [(one.id, one.change) for one in comparison.differing()] == [("told", Change.SAME)]
    assert comparison.differing()[0].says == "tells otherwise: 1 attempts, ok 200; now 2 attempts, unknown 502"


@pytest.mark.parametrize("varies", ["base", "candidate"])
def test_what_varies_by_itself_does_not_tell_otherwise(varies: str) -> None:
    """A cell that told otherwise when it was repeated proves no difference between two subjects."""
    sides = [cell(tells=True, varies=varies == name, attempts=1 + (name == "base")) for name in ("base", "candidate")]
    assert compared(*sides).differing() == ()


def test_a_difference_says_what_was_shown() -> None:
    """Regressed: the checks and the first failure; fixed: what it was; unproven: which side and why."""
    says = [
        compared(PASSED, broken(TWICE, RETRIED)).cells[0].says,
        compared(broken(RETRIED), broken(RETRIED, TWICE)).cells[0].says,
        compared(broken(RETRIED), PASSED).cells[0].says,
        compared(PASSED, UNPROVEN).cells[0].says,
        compared(NOT_RUN, PASSED).cells[0].says,
    ]
    assert says == [
        "at-most-once, safe-retry: was executed twice",
        "at-most-once: was executed twice",
        "was: was sent again",
        "candidate is UNKNOWN: the fault did not strike",
        "base is not_run: needs CAP_NET_RAW",
    ]
