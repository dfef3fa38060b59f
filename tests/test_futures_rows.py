"""The rows of the suite of futures where it could not be shown: not_run with the reason, never left out."""

import pytest

from signoff.futures_cells import futures_cells
from signoff.items import Choice, chosen_items, wants_futures
from suites.findings import Verdict
from suites.foreign import ForeignSubject
from suites.futures.checks import CHECKS
from suites.futures.host import Powers
from suites.futures.played import Played
from suites.futures.suite import UNDER_TOXIPROXY, Suite, ids_of_suite, suite_for
from suites.futures.verdicts import verdict_on
from suites.processes import Supervisor
from suites.reach import Machine
from suites.subject_file import built_in_file
from suites.under_text import under_of

SUBJECT = ForeignSubject(built_in_file("reference-server"), Supervisor())
STANDS = "it runs already"


@pytest.mark.parametrize(("strict", "verdict", "before"), [(False, "not_run", ""), (True, "UNKNOWN", "not run: ")])
def test_under_toxiproxy_every_row_is_there_and_says_why_it_was_not_run(
    strict: bool, verdict: str, before: str
) -> None:
    """Strictly it is UNKNOWN, as any other row out of reach."""
    rows = futures_cells(suite_for(SUBJECT, examples=3, seed_number=0, not_run=UNDER_TOXIPROXY), strict=strict)
    assert tuple(row.id for row in rows) == ids_of_suite()
    assert {(row.verdict, row.reason) for row in rows} == {(verdict, before + UNDER_TOXIPROXY)}


@pytest.mark.parametrize("choice", [Choice(under=under_of("latency=5"), only="futures/*"), Choice(toxics=True)])
def test_under_toxiproxy_the_rows_are_chosen_like_any_other(choice: Choice) -> None:
    """Also where they alone are asked for: they match the glob."""
    assert wants_futures(choice, [SUBJECT.spec])
    if choice.only is not None:
        assert chosen_items(choice, [SUBJECT.spec], Machine.here()) == ()


def test_what_a_server_that_runs_already_cannot_be_led_to_is_not_run_where_nothing_showed_it() -> None:
    """It is never ended here, and time does not go by for it: nothing of it is gone, so that nothing stays gone."""
    powers = Powers(no_clock=STANDS, no_restart=STANDS, no_sqlite=STANDS, no_room=STANDS)
    suite = Suite(played=Played(), powers=powers, examples=0, seed=0)
    checks = {check.name: check for check in CHECKS}
    assert verdict_on(suite, checks["gone-stays-gone"]) == (None, STANDS)
    suite.played.judged["gone-stays-gone"] += 1
    assert verdict_on(suite, checks["gone-stays-gone"]) == (Verdict.PASS, "")
