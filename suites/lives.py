"""One plan lived through until the run can be believed, and judged."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from faults.plan import Plan
from suites.driver import Driver
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import Judgement, judge, judge_twins, judgement_of
from suites.run import Run

TRIES = 3

Record = Callable[[Run], None]


async def live(driver: Driver, plan: Plan, record: Record = lambda run: None) -> tuple[Run, Judgement]:
    """The plan on a fresh instance, judged. While the machine stalls, what rests on cause or timing is not believed:
    the plan is lived through again, and after TRIES it is UNKNOWN. `record` hears of every run, believed or not.

    Raises SubjectError.
    """
    for _ in range(TRIES):
        run = await driver.run(plan)
        record(run)
        judgement = judge(run)
        if not is_doubtful(run, judgement):
            return run, judgement
    return run, judgement_of(doubted(judgement.findings, run.stalled_ms))


async def live_beside_twin(driver: Driver, plan: Plan, twin: Plan) -> tuple[Run, Judgement]:
    """A run of the plan, held against one of its twin; while the machine stalls, both are made again.

    Raises SubjectError, and ValueError for a twin of another shape.
    """
    for _ in range(TRIES):
        run, judgement = await live(driver, plan)
        other, _ = await live(driver, twin)
        found = judge_twins(run, other)
        if not stalled(run) and not stalled(other):
            break
        found = list(doubted(found, max(run.stalled_ms, other.stalled_ms)))
    return run, judgement_of((*judgement.findings, *found))


def is_doubtful(run: Run, judgement: Judgement) -> bool:
    """The machine stalled, and what was found may come from that alone."""
    if not stalled(run) or judgement.verdict in (None, Verdict.PASS):
        return False
    return all(finding.proof is Proof.CAUSE for finding in judgement.failures)


def stalled(run: Run) -> bool:
    """A loop of ours came late by a third of the shortest time-out: that can end what the subject would have
    waited for.
    """
    return run.stalled_ms >= run.shortest_timeout_ms / 3


def doubted(findings: Iterable[Finding], stalled_ms: float) -> tuple[Finding, ...]:
    """The same findings; failures that rest on cause or timing are UNKNOWN, since the machine stalled meanwhile."""
    return tuple(_doubted(finding, stalled_ms) for finding in findings)


def _doubted(finding: Finding, stalled_ms: float) -> Finding:
    if finding.verdict is not Verdict.FAIL or finding.proof is not Proof.CAUSE or finding.claim is not Claim.MUST:
        return finding
    says = f"{finding.says}; but this machine stalled for {stalled_ms:.0f} ms meanwhile"
    return replace(finding, verdict=Verdict.UNKNOWN, says=says)
