"""What verdict a run gets in which the instrument itself is in doubt: never PASS, and never FAIL by that alone."""

from dataclasses import replace

import pytest

from fake_router.entries import EndedBy
from suites.findings import Verdict
from suites.judge import judge
from suites.run import Sockets
from tests.ledgers import (
    CONTRACTED,
    FRESH,
    OP,
    PROXY,
    Case,
    accepted,
    closed,
    executed,
    explain,
    held,
    hung,
    lost,
    ok,
    opened,
    planned,
    received,
    rejected,
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
NO_WORKERS = (received(1), striking("503-no-workers", exchange=1), replying(1, 503), replied(1), struck(2))
HEALTHY = (opened(1), *served(1, 1))
VACUOUS = {"vacuity": UNKNOWN}

CASES = (
    Case(
        name="a fault that did not strike",
        rule=1,
        run=run(planned("reset-after"), HEALTHY, ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a fault that was about to strike, and nothing says that it did",
        rule=1,
        run=run(
            planned("reset-after"),
            [received(1), accepted(1), executed(1, 1), striking("reset-after", exchange=1), closed(1)],
            lost(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a retry after a fault that was only about to strike",
        rule=1,
        run=run(
            planned("reset-before"),
            [received(1), striking("reset-before", exchange=1), closed(1), *served(2, 1, of=2)],
            ok(),
        ),
        verdict=UNKNOWN,
        says={"safe-retry": UNKNOWN, "vacuity": UNKNOWN},
    ),
    Case(
        name="a conditional fault never met: there was no second exchange",
        rule=1,
        run=run(
            planned("reset-after", "503-before"),
            [received(1), accepted(1), executed(1, 1), striking("reset-after", exchange=1), closed(1), struck(4)],
            lost(),
        ),
        verdict=PASS,
    ),
    Case(
        name="a conditional fault that its exchange did not meet",
        rule=1,
        run=run(
            planned("503-no-workers", "503-before"),
            [*NO_WORKERS, *served(2, 1, of=2)],
            ok(),
            subject=CONTRACTED,
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a fault that no plan put there",
        rule=8,
        run=run(
            planned(),
            [received(1), accepted(1), executed(1, 1), striking("reset-after", exchange=1), closed(1), struck(4)],
            lost(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a listener's fault that met no connection",
        rule=1,
        run=run(held("unread-never"), [opened(1, 1), *served(1, 1, upstream=1)], ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a listener's fault that let its connection pass",
        rule=1,
        run=run(held("unread-never"), HEALTHY, ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a planned reuse that came on a new connection",
        rule=1,
        run=run(planned(reused=True), HEALTHY, ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="an operation that was let pass and not executed",
        rule=1,
        run=run(planned(), [received(1), closed(1, EndedBy.PEER)], lost()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a run that did not settle",
        rule=9,
        run=run(planned(), HEALTHY, ok(), settled=False),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="bytes of a sending that belongs to nobody",
        rule=1,
        run=run(planned(), [*HEALTHY, unserved(7, None)], ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a request that the router could not understand",
        rule=1,
        run=run(planned(), [*HEALTHY, rejected(7)], ok()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a fresh operation that meets a fault: nothing was healed",
        rule=5,
        run=run(
            planned(),
            HEALTHY,
            ok(),
            late=[received(99, FRESH, of=2), striking("reset-before", exchange=99), closed(99), struck(16)],
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL, "vacuity": UNKNOWN},
    ),
    Case(
        name="an outcome that is missing from the history",
        rule=2,
        run=run(planned(), HEALTHY),
        verdict=UNKNOWN,
        says={"answered": UNKNOWN},
    ),
    Case(
        name="a reply whose end is not recorded is no proof of a cut",
        rule=1,
        run=run(planned(), [received(1), accepted(1), executed(1, 1), replying(1)], ok(), subject=PROXY),
        verdict=UNKNOWN,
        says={"no-garbage": UNKNOWN},
    ),
    Case(
        name="what the ledger proves is a FAIL in a run that proves nothing else",
        rule=10,
        run=run(planned("reset-after"), [*HEALTHY, *served(2, 2, of=2)], hung(), subject=PROXY, settled=False),
        verdict=FAIL,
        says={"at-most-once": FAIL, "safe-retry": FAIL, "answered": UNKNOWN, "vacuity": UNKNOWN},
    ),
    Case(
        name="a run of which nothing is known",
        rule=2,
        run=replace(run(planned(), []), operations=(), fresh=(), ledger=(), history=(), sockets=Sockets()),
        verdict=UNKNOWN,
        says={"heals": UNKNOWN, "no-leak": UNKNOWN, "vacuity": UNKNOWN},
    ),
    Case(
        name="an unreachable cell is not judged, whatever it holds",
        rule=2,
        run=replace(run(planned("reset-after"), HEALTHY, hung()), unreachable="no upstream keep-alive"),
        verdict=None,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_doubt_is_unknown(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


def test_an_unreachable_cell_keeps_its_reason_and_counts_as_unproved_under_strict() -> None:
    """It is listed with its reason; strict() makes it UNKNOWN, and leaves every other judgement as it is."""
    judgement = judge(replace(run(planned(), HEALTHY, ok()), unreachable="no upstream keep-alive"))
    assert (judgement.verdict, judgement.not_run, judgement.word) == (None, "no upstream keep-alive", "not_run")
    strict = judgement.strict()
    assert (strict.verdict, strict.not_run) == (UNKNOWN, None)
    assert "no upstream keep-alive" in strict.findings[-1].says
    judged = judge(run(planned(), HEALTHY, ok()))
    assert judged.strict() is judged


def test_the_finding_names_the_sending_the_evidence_and_the_entries() -> None:
    """A stranger can read what happened, and find it in the ledger."""
    entries = steps(
        [opened(1), received(1), striking("reset-before", exchange=1), closed(1), struck(3)],
        served(2, 1, upstream=1, of=2),
    )
    finding = judge(run(planned("reset-before"), entries, ok())).failures[0]
    assert finding.says == (
        f"operation {OP} was sent again (attempt 2 on upstream 1) after a reset before any reply byte: AMBIGUOUS; "
        "only luck prevented a second execution"
    )
    assert (finding.operation, finding.entries) == (OP, (2, 3, 5, 6, 7, 8, 9, 10))
