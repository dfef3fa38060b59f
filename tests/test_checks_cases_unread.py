"""What verdict a decision gets where the router read nothing: dials, resets and what was left unread."""

import pytest

from fake_router.entries import EndedBy, Witness
from suites.findings import Verdict
from tests.ledgers import (
    Case,
    accepted,
    closed,
    dialled,
    executed,
    explain,
    failed,
    held,
    lost,
    ok,
    opened,
    planned,
    received,
    replied,
    replying,
    run,
    said_of,
    served,
    steps,
    striking,
    struck,
    unserved,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
TWICE = {"safe-retry": FAIL, "at-most-once": FAIL}

CASES = (
    Case(
        name="a dial after the answer may be a pool's or a probe's: not judged, and not passed",
        rule=13,
        run=run(
            held("connect-refused"),
            steps(
                [striking("connect-refused"), dialled(0, 5001, refused=True), opened(1, 1), *served(1, 1, upstream=1)],
                [dialled(0, 5002, refused=True), struck(1, Witness.PACKET)],
            ),
            ok(),
        ),
        verdict=UNKNOWN,
        says={"safe-retry": UNKNOWN},
    ),
    Case(
        name="refused by one upstream, sent to the other",
        rule=1,
        run=run(
            held("connect-refused"),
            steps(
                [striking("connect-refused"), dialled(0, 5001, refused=True), opened(1, 1), *served(1, 1, upstream=1)],
                [struck(1, Witness.PACKET)],
            ),
            ok(),
        ),
        verdict=PASS,
    ),
    Case(
        name="a dropped SYN that only the kernel counted, beside a healthy upstream",
        rule=1,
        run=run(
            held("syn-dropped"),
            [striking("syn-dropped"), opened(1, 1), *served(1, 1, upstream=1), struck(1, Witness.SK_DROPS, 2)],
            ok(),
        ),
        verdict=PASS,
    ),
    Case(
        name="a dropped SYN at a time that nobody saw may be a retry after the reset",
        rule=9,
        run=run(
            planned("reset-after", listeners=held("syn-dropped").listeners),
            steps(
                [striking("syn-dropped"), opened(1, 1), received(1, upstream=1), accepted(1), executed(1, 1)],
                [striking("reset-after", exchange=1, upstream=1), closed(1), struck(6), struck(1, Witness.SK_DROPS)],
            ),
            lost(),
        ),
        verdict=UNKNOWN,
        says={"safe-retry": UNKNOWN},
    ),
    Case(
        name="the same with a packet witness: it was dialled again after the reset",
        rule=13,
        run=run(
            planned("reset-after", listeners=held("syn-dropped").listeners),
            steps(
                [striking("syn-dropped"), opened(1, 1), received(1, upstream=1), accepted(1), executed(1, 1)],
                [striking("reset-after", exchange=1, upstream=1), closed(1), struck(6)],
                [dialled(0, 5001, refused=False), struck(1, Witness.PACKET)],
            ),
            lost(),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="a dropped dial that got through later is one sending, and no dropped one",
        rule=1,
        run=run(
            held("syn-dropped"),
            steps(
                [striking("syn-dropped"), dialled(0, 5001, refused=False), struck(1, Witness.PACKET)],
                [opened(1, 0, 5001), *served(1, 1)],
            ),
            ok(),
        ),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="every upstream refuses, and no listener saw a connection",
        rule=1,
        run=run(
            held("connect-refused", None),
            [striking("connect-refused"), striking("connect-refused", upstream=1), struck(1, Witness.EXCLUSION)],
            failed(),
        ),
        verdict=PASS,
    ),
    Case(
        name="reset at accept, sent again: it only tells",
        rule=13,
        run=run(
            held("accept-reset"),
            steps(
                [opened(1), striking("accept-reset", connection=1), closed(1), struck(2)],
                [opened(2, 1), *served(2, 1, upstream=1)],
            ),
            ok(),
        ),
        verdict=PASS,
    ),
    Case(
        name="reset at accept tells of one decision only: the next retry is judged",
        rule=13,
        run=run(
            planned("reset-after", listeners=held("accept-reset").listeners),
            steps(
                [opened(1), striking("accept-reset", connection=1), closed(1), struck(2), opened(2, 1)],
                [received(2, upstream=1), accepted(2), executed(2, 1), striking("reset-after", exchange=2)],
                [closed(2), struck(9), *served(3, 2, upstream=1, of=2)],
            ),
            ok(execution=2),
        ),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="left unread, given up by its sender, and never read",
        rule=9,
        run=run(
            held("unread-never"),
            [opened(1), striking("unread-never", connection=1), struck(2), unserved(1), closed(1, EndedBy.PEER)],
            lost(status=504),
        ),
        verdict=PASS,
    ),
    Case(
        name="left unread, read late, and then reset by a fault of its own: both struck one sending",
        rule=8,
        run=run(
            planned("reset-after", listeners=held("unread-late").listeners),
            steps(
                [opened(1), striking("unread-late", connection=1), struck(2), received(1), accepted(1), executed(1, 1)],
                [striking("reset-after", exchange=1), closed(1), struck(7)],
            ),
            lost(status=504),
        ),
        verdict=PASS,
    ),
    Case(
        name="late entry: what was left unread executes after its retry",
        rule=9,
        run=run(
            held("unread-late"),
            steps(
                [opened(1), striking("unread-late", connection=1), struck(2), opened(2, 1), *served(2, 1, upstream=1)],
                [received(1, of=2), accepted(1), executed(1, 2), replying(1), replied(1, whole=False)],
            ),
            ok(),
        ),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="reset with the request unread, and sent again",
        rule=13,
        run=run(
            held("unread-reset"),
            steps(
                [opened(1), unserved(1), striking("unread-reset", connection=1), closed(1), struck(3)],
                [opened(2, 1), *served(2, 1, upstream=1)],
            ),
            ok(),
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="a connection without a request, held and closed by its peer, is no attempt",
        rule=9,
        run=run(
            held("unread-never"),
            steps(
                [opened(1), striking("unread-never", connection=1), struck(2), unserved(1)],
                [opened(2), striking("unread-never", connection=2), closed(2, EndedBy.PEER)],
            ),
            lost(status=504),
        ),
        verdict=PASS,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_decision_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
