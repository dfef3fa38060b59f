"""What verdict a run gets in which idle connections are ended or held, or a request is answered before it is read."""

from dataclasses import replace

import pytest

from fake_router.entries import EndedBy, Witness
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.findings import Verdict
from tests.ledgers import (
    CONTRACTED,
    PROXY,
    Case,
    closed,
    explain,
    failed,
    held,
    lost,
    ok,
    opened,
    replied,
    replying,
    run,
    said_of,
    served,
    striking,
    struck,
    unserved,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
END = (striking("idle-fin", connection=1), closed(1, EndedBy.ROUTER_FIN))
ABRUPT = "early-503-no-workers-abrupt"
ANSWERED = (striking("early-503-no-workers", connection=1, exchange=1), unserved(1), replying(1, 503), replied(1))


def reused(fault: str) -> Plan:
    """A plan whose only operation meets connections that have carried one."""
    return Plan(operations=(PlannedOperation(reused=True),), listeners=(PlannedListener(fault=fault),), upstreams=2)


CASES = (
    Case(
        name="an idle connection was ended, and the operation ran over a new one",
        rule=3,
        run=run(reused("idle-fin"), [*END, struck(1), opened(2), *served(2, 1)], ok()),
        verdict=PASS,
    ),
    Case(
        name="nothing says that the idle connection was ended",
        rule=1,
        run=run(reused("idle-fin"), [*END[:1], opened(2), *served(2, 1)], ok()),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="a witness that could not see the end of an idle connection",
        rule=1,
        run=run(reused("idle-fin"), [*END, struck(1, Witness.QUEUE), opened(2), *served(2, 1)], ok()),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="the idle connection of another upstream was ended",
        rule=1,
        run=run(
            replace(reused("idle-fin"), listeners=(PlannedListener(fault="idle-fin", upstream=1),)),
            [*END, struck(1), opened(2), *served(2, 1)],
            ok(),
        ),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="the operation failed after the end of an idle connection: a warning",
        rule=11,
        run=run(reused("idle-fin"), [*END, struck(1), unserved(1)], lost()),
        verdict=PASS,
        says={"safe-retry-made": FAIL},
    ),
    Case(
        name="written into a connection that had ended, and sent again",
        rule=13,
        run=run(reused("idle-fin"), [*END, struck(1), unserved(1), opened(2), *served(2, 1)], ok()),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="the fault met a new connection, and the plan asked for a reused one",
        rule=2,
        run=run(
            reused("unread-reset"),
            [opened(1), striking("unread-reset", connection=1), unserved(1), closed(1), struck(2)],
            lost(),
        ),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="the fault met a reused connection",
        rule=2,
        run=run(
            reused("unread-reset"),
            [striking("unread-reset", connection=1), unserved(1), closed(1), struck(1)],
            lost(),
        ),
        verdict=PASS,
    ),
    Case(
        name="sent again after an early answer that the contract names",
        rule=3,
        run=run(
            held("early-503-no-workers"),
            [opened(1), *ANSWERED, struck(2), opened(2, 1), *served(2, 1, upstream=1)],
            ok(),
            subject=CONTRACTED,
        ),
        verdict=PASS,
    ),
    Case(
        name="sent again after an early answer that no contract names",
        rule=13,
        run=run(
            held("early-503-no-workers"),
            [opened(1), *ANSWERED, struck(2), opened(2, 1), *served(2, 1, upstream=1)],
            ok(),
            subject=PROXY,
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="not sent again after an early answer that the contract names",
        rule=5,
        run=run(held("early-503-no-workers"), [opened(1), *ANSWERED, struck(2)], failed(), subject=CONTRACTED),
        verdict=PASS,
        says={"safe-retry-made": FAIL},
    ),
    Case(
        name="not sent again after an early answer that its reset may have overtaken",
        rule=13,
        run=run(
            held(ABRUPT),
            [opened(1), striking(ABRUPT, connection=1, exchange=1), *ANSWERED[1:], struck(2)],
            lost(),
            subject=CONTRACTED,
        ),
        verdict=PASS,
    ),
    Case(
        name="an early answer that was not sent is no evidence",
        rule=1,
        run=run(held("early-503-no-workers"), [opened(1), *ANSWERED[:2], struck(2)], failed(), subject=CONTRACTED),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN, "safe-retry-made": FAIL},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_gets_the_verdict_that_its_rule_demands(case: Case) -> None:
    """And exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
