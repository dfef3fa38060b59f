"""What is found while the machine stalls is not believed, and what the ledger proves always is."""

import asyncio
import time
from types import SimpleNamespace
from typing import cast

import pytest

from faults.plan import Plan, PlannedOperation
from suites.driver import Driver
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import judgement_of
from suites.lives import TURNS, doubted, is_doubtful, live, live_or_again, stalled
from suites.pulse import BEAT_S, Pulse
from suites.reference import reference_subject
from suites.run import Promise, Run, SubjectFacts
from tests.ledgers import held, hung, ok, opened, planned, run, served

FACTS = SubjectFacts(name="any", promises=Promise.ANSWERING)
PLAN = Plan(operations=(PlannedOperation(),))
CAUSE = Finding(check="heals", claim=Claim.MUST, verdict=Verdict.FAIL, says="it timed out", proof=Proof.CAUSE)
LEDGER = Finding(check="at-most-once", claim=Claim.MUST, verdict=Verdict.FAIL, says="twice", proof=Proof.LEDGER)
PASS = Finding(check="heals", claim=Claim.MUST, verdict=Verdict.PASS, says="it works")


def _run(stalled_ms: float) -> Run:
    return Run(
        plan=PLAN, subject=FACTS, operations=(1,), ledger=(), history=(), stalled_ms=stalled_ms, shortest_timeout_ms=300
    )


def test_a_stall_begins_at_a_third_of_the_shortest_time_out() -> None:
    """Below that it cannot end what the subject would have waited for."""
    assert not stalled(_run(99.9))
    assert stalled(_run(100.0))


@pytest.mark.parametrize(
    ("stalled_ms", "findings", "doubtful"),
    [
        (200.0, (CAUSE,), True),
        (200.0, (LEDGER,), False),
        (200.0, (CAUSE, LEDGER), False),
        (200.0, (PASS,), False),
        (0.0, (CAUSE,), False),
    ],
)
def test_only_cause_and_timing_are_doubted(stalled_ms: float, findings: tuple[Finding, ...], doubtful: bool) -> None:
    """Two executions are two executions, however slow the machine was."""
    assert is_doubtful(_run(stalled_ms), judgement_of(findings)) is doubtful


def test_a_doubtful_failure_becomes_unknown_and_says_why() -> None:
    """Never PASS: it proved nothing."""
    judgement = judgement_of(doubted((CAUSE,), 250.0))
    assert judgement.verdict is Verdict.UNKNOWN
    assert "stalled for 250 ms" in judgement.findings[0].says


async def test_a_pulse_remembers_that_its_loop_came_late() -> None:
    """A loop that is held up for several beats has missed them."""
    began_ns = time.monotonic_ns()
    pulse = Pulse()
    held_until = time.monotonic() + 10 * BEAT_S
    while time.monotonic() < held_until:
        pass  # the loop is busy: that is the stall
    late = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(BEAT_S, late.set_result, None)
    await late
    assert pulse.worst_since(began_ns) >= 5 * BEAT_S * 1000
    assert pulse.worst_since(time.monotonic_ns()) == 0
    pulse.stop()


MET_NOTHING = run(planned("503-after"), [opened(1), *served(1, 1)], ok())
HUNG = run(planned("503-after"), [opened(1), *served(1, 1)], hung(), settled=False)
WELL = run(planned(), [opened(1), *served(1, 1)], ok())


@pytest.mark.parametrize(
    ("runs", "verdict", "left"),
    [
        ((MET_NOTHING, WELL), Verdict.PASS, 0),
        ((MET_NOTHING, MET_NOTHING, WELL), Verdict.UNKNOWN, 1),
        ((WELL, MET_NOTHING), Verdict.PASS, 1),
        ((HUNG, WELL), Verdict.FAIL, 1),
    ],
)
async def test_who_met_nothing_gets_one_more_chance(runs: tuple[Run, ...], verdict: Verdict, left: int) -> None:
    """A toxic that came too late on a busy machine; not one that hung, and not for ever."""
    told = list(runs)

    async def next_run(plan: Plan, *, turn: int = 0) -> Run:
        return told.pop(0)

    driver = SimpleNamespace(run=next_run, subject=SimpleNamespace(spec=reference_subject(None, "").spec))
    _, judgement = await live_or_again(cast("Driver", driver), PLAN)
    assert judgement.verdict is verdict
    assert len(told) == left


@pytest.mark.parametrize("turns", [0, 2, TURNS - 1, TURNS])
async def test_who_went_to_another_upstream_is_led_to_the_faulty_one(turns: int) -> None:
    """Whoever chooses by chance: at most so many times, each with its turn."""
    elsewhere = run(held("unread-never"), [opened(1, 1), *served(1, 1, upstream=1)], ok())
    led: list[int] = []

    async def next_run(plan: Plan, *, turn: int = 0) -> Run:
        led.append(turn)
        return elsewhere if turn < turns else WELL

    driver = SimpleNamespace(run=next_run)
    _, judgement = await live(cast("Driver", driver), elsewhere.plan)
    assert led == list(range(min(turns + 1, TURNS)))
    assert judgement.verdict is (Verdict.PASS if turns < TURNS else Verdict.UNKNOWN)
