"""What verdict a sending gets whose head came without all of its body."""

import pytest

from fake_router.entries import EndedBy
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
    received,
    rejected,
    run,
    said_of,
    served,
    steps,
    striking,
    struck,
    unserved,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
EXECUTED_AND_CLOSED = (
    opened(1),
    received(1),
    accepted(1),
    executed(1, 1),
    striking("fin-after", exchange=1),
    closed(1, EndedBy.ROUTER_FIN),
    struck(5),
)

CASES = (
    Case(
        name="sent again without its body after a FIN, twice",
        rule=13,
        run=run(
            planned("fin-after"),
            steps(
                EXECUTED_AND_CLOSED,
                [opened(2, 1), unserved(2, None, 1, body_bytes=0), closed(2, EndedBy.PEER)],
                [opened(3), unserved(3, None, body_bytes=0), closed(3, EndedBy.PEER)],
            ),
            lost(),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL, "intact-request": FAIL},
    ),
    Case(
        name="sent again after a FIN as a request that has no body",
        rule=13,
        run=run(
            planned("fin-after"),
            steps(EXECUTED_AND_CLOSED, [opened(2), rejected(2, body_bytes=0), closed(2, EndedBy.PEER)]),
            lost(status=400),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL, "intact-request": FAIL},
    ),
    Case(
        name="what is no operation's, though it has a body, is nobody's",
        rule=13,
        run=run(
            planned("fin-after"),
            steps(EXECUTED_AND_CLOSED, [opened(2), rejected(2, body_bytes=7), closed(2, EndedBy.PEER)]),
            lost(status=400),
        ),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="sent again after a FIN, and broken off in its body",
        rule=13,
        run=run(
            planned("fin-after"),
            steps(EXECUTED_AND_CLOSED, [opened(2, 1), unserved(2, None, 1, body_bytes=30), closed(2, EndedBy.PEER)]),
            lost(),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="its body was withheld until a 100 that did not come, and it was sent again elsewhere",
        rule=13,
        run=run(
            held("unread-never"),
            steps(
                [opened(1), striking("unread-never", connection=1), struck(2)],
                [opened(2, 1), *served(2, 1, upstream=1), unserved(1, None, body_bytes=0), closed(1, EndedBy.PEER)],
            ),
            ok(),
        ),
        verdict=PASS,
    ),
    Case(
        name="the same before one that would have served it late: of a head alone it could not",
        rule=8,
        run=run(
            held("unread-late"),
            steps(
                [opened(1), striking("unread-late", connection=1), struck(2)],
                [opened(2, 1), *served(2, 1, upstream=1), unserved(1, None, body_bytes=0), closed(1, EndedBy.PEER)],
            ),
            ok(),
        ),
        verdict=PASS,
    ),
    Case(
        name="the same with a part of its body: it may have been applied",
        rule=13,
        run=run(
            held("unread-never"),
            steps(
                [opened(1), striking("unread-never", connection=1), struck(2)],
                [opened(2, 1), *served(2, 1, upstream=1), unserved(1, None, body_bytes=30), closed(1, EndedBy.PEER)],
            ),
            ok(),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_body_that_never_came_is_no_work_and_no_request(case: Case) -> None:
    """To send again on unsafe evidence stays wrong; what never had a body is no evidence of work."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
