"""When a safe retry that was not made is a warning: never a verdict, and only where it would have succeeded."""

import pytest

from fake_router.entries import AnyEntry, Witness
from suites.findings import Verdict
from tests.ledgers import (
    CONTRACTED,
    PATIENT,
    Case,
    closed,
    dialled,
    explain,
    failed,
    held,
    lost,
    ok,
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
WARNING = {"safe-retry-made": FAIL}


def no_workers(exchange: int, at: int, upstream: int = 0) -> list[AnyEntry]:
    """An exchange that is answered as the contract's "not accepted"; `at` is the place of its strike."""
    return steps(
        [received(exchange, of=exchange, upstream=upstream), striking("503-no-workers", exchange=exchange)],
        [replying(exchange, 503), replied(exchange), struck(at)],
    )


CASES = (
    Case(
        name="a safe retry that was not made",
        rule=5,
        run=run(planned("503-no-workers"), no_workers(1, 2), lost(status=503), subject=CONTRACTED),
        verdict=PASS,
        says=WARNING,
    ),
    Case(
        name="a safe retry that was made",
        rule=5,
        run=run(planned("503-no-workers"), [*no_workers(1, 2), *served(2, 1, of=2)], ok(), subject=CONTRACTED),
        verdict=PASS,
    ),
    Case(
        name="an unsafe fault in the way of the retry",
        rule=5,
        run=run(planned("503-no-workers", "reset-after"), no_workers(1, 2), lost(status=503), subject=PATIENT),
        verdict=PASS,
    ),
    Case(
        name="another safe fault in the way, and budget for both",
        rule=5,
        run=run(planned("503-no-workers", "503-no-workers"), no_workers(1, 2), lost(status=503), subject=PATIENT),
        verdict=PASS,
        says=WARNING,
    ),
    Case(
        name="another safe fault in the way, and budget for one",
        rule=5,
        run=run(planned("503-no-workers", "503-no-workers"), no_workers(1, 2), lost(status=503), subject=CONTRACTED),
        verdict=PASS,
    ),
    Case(
        name="an exchange that the plan lets pass would have been next",
        rule=5,
        run=run(planned("503-no-workers", "healthy", "reset-after"), no_workers(1, 2), lost(), subject=CONTRACTED),
        verdict=PASS,
        says=WARNING,
    ),
    Case(
        name="a safe failure and then an unsafe one: nothing more may be asked",
        rule=5,
        run=run(
            planned("503-no-workers", "reset-before"),
            [*no_workers(1, 2), received(2, of=2), striking("reset-before", exchange=2), closed(2), struck(7)],
            lost(),
            subject=PATIENT,
        ),
        verdict=PASS,
    ),
    Case(
        name="a fault that was only about to strike proves no safe failure",
        rule=1,
        run=run(planned("503-no-workers"), no_workers(1, 2)[:-1], lost(status=503), subject=CONTRACTED),
        verdict=UNKNOWN,
        says={"vacuity": UNKNOWN},
    ),
    Case(
        name="refused by one upstream and given up",
        rule=5,
        run=run(
            held("connect-refused"),
            [striking("connect-refused"), dialled(0, 5001, refused=True), struck(1, Witness.PACKET)],
            failed(),
        ),
        verdict=PASS,
        says=WARNING,
    ),
    Case(
        name="a budget that was spent on an upstream that refuses",
        rule=5,
        run=run(
            held("connect-refused"),
            steps(
                [striking("connect-refused"), dialled(0, 5001, refused=True), dialled(0, 5002, refused=True)],
                [struck(1, Witness.PACKET, 2)],
            ),
            failed(),
        ),
        verdict=PASS,
    ),
    Case(
        name="every upstream refuses: there was no healthy way",
        rule=5,
        run=run(
            planned(listeners=[*held("connect-refused").listeners, *held("connect-refused", 1).listeners]),
            steps(
                [striking("connect-refused"), striking("connect-refused", upstream=1)],
                [struck(1, Witness.EXCLUSION), struck(2, Witness.EXCLUSION)],
            ),
            failed(),
            subject=PATIENT,
        ),
        verdict=PASS,
    ),
    Case(
        name="how often it was sent is not known, so neither is whether the budget was spent",
        rule=1,
        run=run(
            planned("503-no-workers", listeners=held("syn-dropped").listeners),
            [striking("syn-dropped"), *no_workers(1, 3, upstream=1), struck(1, Witness.SK_DROPS)],
            failed(),
            subject=PATIENT,
        ),
        verdict=PASS,
        says={"safe-retry-made": UNKNOWN},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_missed_retry_gets_its_warning(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
