"""What verdict a run gets whose strikes have no fit witness, or contradict the truth of their faults."""

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
    opened,
    planned,
    received,
    run,
    said_of,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
VACUOUS = {"vacuity": UNKNOWN}

CASES = (
    Case(
        name="the ledger contradicts the truth of the fault: executed before EXECUTE",
        rule=1,
        run=run(
            planned("reset-before"),
            [received(1), accepted(1), executed(1, 1), striking("reset-before", exchange=1), closed(1), struck(4)],
            lost(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="the subject had left before the fault struck",
        rule=13,
        run=run(
            planned("reset-before"),
            [received(1), closed(1, EndedBy.PEER), striking("reset-before", exchange=1), struck(3)],
            lost(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="exclusion proves nothing when a listener saw a connection",
        rule=1,
        run=run(
            held("connect-refused", None),
            [striking("connect-refused"), opened(1, 1), struck(1, Witness.EXCLUSION)],
            failed(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="exclusion proves nothing beside a healthy upstream",
        rule=1,
        run=run(held("connect-refused"), [striking("connect-refused"), struck(1, Witness.EXCLUSION)], failed()),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN, "safe-retry-made": UNKNOWN},
    ),
    Case(
        name="a witness who cannot have seen it",
        rule=1,
        run=run(held("syn-dropped", None), [striking("syn-dropped"), struck(1, Witness.ACT)], failed()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a dial that was dropped by a listener that should refuse",
        rule=1,
        run=run(
            held("connect-refused", None),
            [striking("connect-refused"), dialled(0, 5001, refused=False), struck(1, Witness.PACKET)],
            failed(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a strike that was counted nought times",
        rule=1,
        run=run(held("syn-dropped", None), [striking("syn-dropped"), struck(1, Witness.SK_DROPS, 0)], failed()),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_strike_needs_its_witness(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
