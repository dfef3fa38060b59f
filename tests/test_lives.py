"""What is found while the machine stalls is not believed, and what the ledger proves always is."""

import asyncio
import time

import pytest

from faults.plan import Plan, PlannedOperation
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import judgement_of
from suites.lives import doubted, is_doubtful, stalled
from suites.pulse import BEAT_S, Pulse
from suites.run import Promise, Run, SubjectFacts

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
