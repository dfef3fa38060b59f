"""What verdict a decision gets: ledgers of sendings, each with the verdict that it must get."""

import pytest

from fake_router.entries import EndedBy
from suites.findings import Verdict
from tests.ledgers import (
    CONTRACTED,
    LIBRARY,
    OP,
    PROXY,
    Case,
    accepted,
    closed,
    executed,
    explain,
    lost,
    ok,
    opened,
    planned,
    probed,
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
RESET_AFTER = (
    opened(1),
    received(1),
    accepted(1),
    executed(1, 1),
    striking("reset-after", exchange=1),
    closed(1),
    struck(5),
)
RESET_BEFORE = (opened(1), received(1), striking("reset-before", exchange=1), closed(1), struck(3))
NO_WORKERS = (
    opened(1),
    received(1),
    striking("503-no-workers", exchange=1),
    replying(1, 503),
    replied(1),
    struck(3),
)
TWICE = {"safe-retry": FAIL, "at-most-once": FAIL}

CASES = (
    Case(name="a healthy exchange", rule=1, run=run(planned(), [opened(1), *served(1, 1)], ok()), verdict=PASS),
    Case(
        name="a fault that the plan calls healthy strikes by being executed",
        rule=1,
        run=run(planned("healthy"), [opened(1), *served(1, 1)], ok()),
        verdict=PASS,
    ),
    Case(
        name="given up after a reset that followed EXECUTE",
        rule=5,
        run=run(planned("reset-after"), RESET_AFTER, lost()),
        verdict=PASS,
    ),
    Case(
        name="duplicate: sent again after a reset, and executed twice",
        rule=13,
        run=run(planned("reset-after"), [*RESET_AFTER, *served(2, 2, upstream=1, of=2)], ok(execution=2)),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="unsafe retry that luck saved: the reset had come before EXECUTE",
        rule=13,
        run=run(planned("reset-before"), [*RESET_BEFORE, *served(2, 1, upstream=1, of=2)], ok()),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="sent again after an answer that the contract names as not accepted",
        rule=5,
        run=run(planned("503-no-workers"), [*NO_WORKERS, *served(2, 1, of=2)], ok(), subject=CONTRACTED),
        verdict=PASS,
    ),
    Case(
        name="the same answer proves nothing without a contract",
        rule=13,
        run=run(planned("503-no-workers"), [*NO_WORKERS, *served(2, 1, of=2)], ok()),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="hedge: sent again while the first sending was still open",
        rule=13,
        run=run(
            planned(),
            steps(
                [received(1), received(2, of=2, upstream=1), accepted(1), executed(1, 1), accepted(2), executed(2, 2)],
                [replying(1), replied(1), replying(2), replied(2)],
            ),
            ok(),
        ),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="sent again before the answer that would have made it safe",
        rule=13,
        run=run(
            planned("503-no-workers"),
            steps(
                [received(1), striking("503-no-workers", exchange=1), *served(2, 1, of=2, upstream=1)],
                [replying(1, 503), replied(1), struck(2)],
            ),
            ok(),
            subject=CONTRACTED,
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="sent again after a whole answer",
        rule=13,
        run=run(planned(), [*served(1, 1), *served(2, 2, of=2)], ok()),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="sent again after a body that was cut: known to have run",
        rule=13,
        run=run(
            planned("body-length-reset"),
            steps(
                [received(1), accepted(1), executed(1, 1), striking("body-length-reset", exchange=1), replying(1)],
                [replied(1, whole=False), closed(1), struck(4), *served(2, 2, of=2)],
            ),
            ok(execution=2),
        ),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="late entry: a ghost is sent when all had settled and healed",
        rule=9,
        run=run(planned("reset-after"), RESET_AFTER, lost(), late=served(2, 2, of=2)),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="sent again after a request that crossed the end of its idle connection",
        rule=13,
        run=run(planned(), [closed(1, EndedBy.ROUTER_FIN), unserved(1), opened(2), *served(2, 1)], ok()),
        verdict=FAIL,
        says={"safe-retry": FAIL},
    ),
    Case(
        name="health probes in between are no attempts",
        rule=9,
        run=run(
            planned("reset-after"),
            [probed(7), *RESET_AFTER[:-1], struck(6), probed(7)],
            lost(),
        ),
        verdict=PASS,
    ),
    Case(
        name="sent again with its prompt rewritten: work that names no operation is no probe",
        rule=1,
        run=run(planned("reset-after"), [*RESET_AFTER, *served(2, 2, None, upstream=1)], lost()),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="a proxy is judged by its decision like any other, though its caller got a 200",
        rule=12,
        run=run(
            planned("503-after"),
            steps(
                [received(1), accepted(1), executed(1, 1), striking("503-after", exchange=1), replying(1, 503)],
                [replied(1), struck(4), *served(2, 2, upstream=1, of=2)],
            ),
            ok(execution=2),
            subject=PROXY,
        ),
        verdict=FAIL,
        says=TWICE,
    ),
    Case(
        name="an answer later than the read timeout, given up by its caller",
        rule=13,
        run=run(
            planned("slow-beyond"),
            steps(
                [received(1), accepted(1), executed(1, 1), striking("slow-beyond", exchange=1)],
                [closed(1, EndedBy.PEER), struck(4)],
            ),
            lost(OP, None),
            subject=LIBRARY,
        ),
        verdict=PASS,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_decision_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "hedge: sent again while the first sending was still open",
            "no evidence of a failure: attempt 1 on upstream 0 was still open",
        ),
        ("sent again after a whole answer", "no evidence of a failure: attempt 1 on upstream 0 had been answered"),
        (
            "sent again before the answer that would have made it safe",
            "status 503 had been sent to it: no evidence yet",
        ),
        (
            "sent again after a request that crossed the end of its idle connection",
            "with its request unserved: AMBIGUOUS",
        ),
        (
            "the same answer proves nothing without a contract",
            "after a whole reply with status 503: AMBIGUOUS; only luck",
        ),
        (
            "sent again after a body that was cut: known to have run",
            "after a reply with status 200 that was cut: FINAL (",
        ),
    ],
)
def test_the_finding_says_on_what_evidence(name: str, words: str) -> None:
    """Each kind of unsafe retry has its own sentence; luck is named only where there was some."""
    case = next(case for case in CASES if case.name == name)
    assert words in explain(case.run)
