"""What verdict a run gets whose strikes have no fit witness, or contradict the truth of their faults."""

from dataclasses import replace

import msgspec
import pytest

from fake_router.entries import AnyEntry, EndedBy, Witness
from suites.findings import Verdict
from suites.history import Outcome
from suites.run import Run
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
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
VACUOUS = {"vacuity": UNKNOWN}


def _pool_held(*, from_ns: int, until_ns: int, outcome: Outcome, then: tuple[AnyEntry, ...] = ()) -> Run:
    """The only connection of the pool was held for that time; what came when it was free again."""
    striking_at, struck_at = (
        msgspec.structs.replace(entry, at_ns=at_ns)
        for entry, at_ns in ((striking("pool-wait"), from_ns), (struck(1, Witness.HELD), until_ns))
    )
    return run(held("pool-wait", None), [striking_at, struck_at, *then], outcome)


CASES = (
    Case(
        name="a pool that was held while the operation waited for it",
        rule=1,
        run=_pool_held(
            from_ns=10, until_ns=50, outcome=replace(ok(), invoked_at_ns=20, ended_at_ns=60), then=served(1, 1)
        ),
        verdict=PASS,
    ),
    Case(
        name="a pool that was held until the operation had given up",
        rule=1,
        run=_pool_held(from_ns=10, until_ns=50, outcome=replace(failed(), invoked_at_ns=20, ended_at_ns=40)),
        verdict=PASS,
    ),
    Case(
        name="a pool that was free again before the operation was called",
        rule=1,
        run=_pool_held(
            from_ns=10, until_ns=50, outcome=replace(ok(), invoked_at_ns=50, ended_at_ns=60), then=served(1, 1)
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="a pool that was held when the operation was over",
        rule=1,
        run=_pool_held(from_ns=40, until_ns=50, outcome=replace(failed(), invoked_at_ns=20, ended_at_ns=40)),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
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
        name="a whole answer of which not all was sent, with no delay that would excuse it",
        rule=1,
        run=run(
            planned("503-before"),
            [received(1), striking("503-before", exchange=1), replying(1, 503), replied(1, whole=False), struck(2)],
            lost(),
        ),
        verdict=UNKNOWN,
        says=VACUOUS,
    ),
    Case(
        name="exclusion where every upstream is named one by one",
        rule=1,
        run=run(
            planned(listeners=[*held("connect-refused").listeners, *held("connect-refused", 1).listeners]),
            steps(
                [striking("connect-refused"), striking("connect-refused", upstream=1)],
                [struck(1, Witness.EXCLUSION), struck(2, Witness.EXCLUSION)],
            ),
            failed(),
        ),
        verdict=PASS,
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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a witness who cannot have seen it", "attempt 1 on upstream 0: act cannot witness 'syn-dropped'"),
        (
            "the ledger contradicts the truth of the fault: executed before EXECUTE",
            "'reset-before' means received, not accepted, not executed, replied nothing, "
            "the ledger says received, accepted, executed, replied nothing",
        ),
    ],
)
def test_the_finding_says_why_the_instrument_is_in_doubt(name: str, words: str) -> None:
    """Both accounts are shown, of the table and of the ledger."""
    case = next(case for case in CASES if case.name == name)
    assert words in explain(case.run)
