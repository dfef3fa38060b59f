"""Nothing is promised to the callers of a forwarder whose container was ended under it; all else is judged."""

import pytest

from fake_router.entries import AnyEntry, Witness
from suites.checks.answered import answered
from suites.checks.at_most_once import at_most_once
from suites.checks.no_garbage import no_garbage
from suites.findings import Verdict
from suites.history import Arrival
from tests.ledgers import (
    FUTURES,
    accepted,
    executed,
    held,
    hung,
    lost,
    ok,
    opened,
    received,
    replied,
    replying,
    run,
    served,
    steps,
    striking,
    struck,
)

NOTHING = lost(status=None, arrival=Arrival.NOTHING)


def struck_by(fault: str, *, seen: bool = True) -> list[AnyEntry]:
    """An executed exchange under which that was done to a container. seen: by its engine."""
    return steps(
        [opened(1), received(1), striking(fault, exchange=1), accepted(1), executed(1, 1), replying(1), replied(1)],
        [struck(3, Witness.ENGINE)] if seen else [],
    )


@pytest.mark.parametrize("outcome", [NOTHING, hung()], ids=["cut off", "hung"])
@pytest.mark.parametrize(
    ("fault", "seen", "verdicts"),
    [
        ("forwarder-killed-executed", True, []),
        ("forwarder-killed-executed", False, [Verdict.FAIL]),
        ("forwarder-paused-executed", True, [Verdict.FAIL]),
        ("killed-executed", True, [Verdict.FAIL]),
    ],
)
def test_whoever_was_ended_under_his_callers_owes_them_no_answer(
    outcome: object, fault: str, seen: bool, verdicts: list[Verdict]
) -> None:
    """One that was frozen, or whose router was ended, does; and so does one of whom nobody says that it was ended."""
    assert isinstance(outcome, type(NOTHING))
    found = answered(run(held(fault, None), struck_by(fault, seen=seen), outcome, subject=FUTURES))
    assert [one.verdict for one in found] == verdicts


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        ("forwarder-paused-executed", Verdict.PASS),
        ("throttled-executed", Verdict.PASS),
        ("paused-executed", Verdict.FAIL),
    ],
)
def test_whoever_was_frozen_finds_his_answer_when_he_thaws(fault: str, verdict: Verdict) -> None:
    """One whose router was frozen has none."""
    found = no_garbage(run(held(fault, None), struck_by(fault), ok(), subject=FUTURES))
    assert [one.verdict for one in found] == [verdict]


def test_what_comes_after_its_end_sends_nothing_again() -> None:
    """The second execution is seen, whoever had forgotten the first."""
    entries = steps(struck_by("forwarder-restarted-executed"), served(2, 2, of=2))
    found = at_most_once(run(held("forwarder-restarted-executed", None), entries, NOTHING, subject=FUTURES))
    assert [one.verdict for one in found] == [Verdict.FAIL]
