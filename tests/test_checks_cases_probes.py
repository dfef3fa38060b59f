"""What verdict a run gets in which a health probe met the fault: it is no sending, and its strike is not the plan's."""

import pytest

from fake_router.entries import AnyEntry, EndedBy
from suites.findings import Verdict
from tests.ledgers import (
    Case,
    accepted,
    closed,
    executed,
    explain,
    held,
    lost,
    ok,
    opened,
    planned,
    probed,
    received,
    run,
    said_of,
    served,
    steps,
    striking,
    struck,
    unserved,
)

PASS, UNKNOWN = Verdict.PASS, Verdict.UNKNOWN
PROBE_RESET = (opened(7), striking("unread-reset", connection=7), probed(7, 0), closed(7), struck(2))
PROBE_HELD = (opened(7), striking("unread-never", connection=7), probed(7, 0), struck(2), closed(7, EndedBy.PEER))
NO_STRIKE = {"vacuity": UNKNOWN}


def sent_once(fault: str, at: int) -> list[AnyEntry]:
    """The operation's sending meets the fault; its Striking is entry `at`."""
    return [opened(1), striking(fault, connection=1), unserved(1), struck(at)]


CASES = (
    Case(
        name="a probe is reset unread, then the operation is, once",
        rule=9,
        run=run(held("unread-reset"), [*PROBE_RESET, *sent_once("unread-reset", 7)], lost()),
        verdict=PASS,
    ),
    Case(
        name="a probe is left unread, then the operation is, once",
        rule=9,
        run=run(held("unread-never"), [*PROBE_HELD, *sent_once("unread-never", 7)], lost(status=504)),
        verdict=PASS,
    ),
    Case(
        name="a probe is left unread after the operation was, and is no second sending",
        rule=9,
        run=run(
            held("unread-never"),
            steps(
                [*sent_once("unread-never", 2), opened(7), striking("unread-never", connection=7)],
                [probed(7, 0), struck(6), closed(7, EndedBy.PEER)],
            ),
            lost(status=504),
        ),
        verdict=PASS,
    ),
    Case(
        name="only a probe is reset unread: the operation went to the healthy upstream",
        rule=1,
        run=run(held("unread-reset"), [*PROBE_RESET, opened(1, 1), *served(1, 1, upstream=1)], ok()),
        verdict=UNKNOWN,
        says=NO_STRIKE,
    ),
    Case(
        name="only a probe is left unread, and answered late",
        rule=1,
        run=run(
            held("unread-late"),
            steps(
                [opened(7), striking("unread-late", connection=7), probed(7, 0), struck(2)],
                [opened(1, 1), *served(1, 1, upstream=1), probed(7)],
            ),
            ok(),
        ),
        verdict=UNKNOWN,
        says=NO_STRIKE,
    ),
    Case(
        name="an answer inside the read timeout, and its subject left before it",
        rule=1,
        run=run(
            planned("slow-inside"),
            steps(
                [received(1), accepted(1), executed(1, 1), striking("slow-inside", exchange=1)],
                [closed(1, EndedBy.PEER)],
            ),
            lost(),
        ),
        verdict=UNKNOWN,
        says=NO_STRIKE,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_probe_changes_no_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
