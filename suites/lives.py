"""One plan lived through until the run can be believed, and judged."""

from dataclasses import replace

from faults.plan import Plan
from suites.driver import Driver
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import Judgement, judge, judgement_of
from suites.run import Run

TRIES = 3


async def live(driver: Driver, plan: Plan) -> tuple[Run, Judgement]:
    """The plan on a fresh instance, judged. While the machine stalls, what rests on cause or timing is not believed:
    the plan is lived through again, and after TRIES it is UNKNOWN. Raises SubjectError.
    """
    for _ in range(TRIES):
        run = await driver.run(plan)
        judgement = judge(run)
        if not is_doubtful(run, judgement):
            break
    return run, undecided(run, judgement) if is_doubtful(run, judgement) else judgement


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


def undecided(run: Run, judgement: Judgement) -> Judgement:
    """The same findings; those that rest on cause or timing are UNKNOWN, since the machine stalled."""
    return judgement_of(tuple(_doubted(run, finding) for finding in judgement.findings))


def _doubted(run: Run, finding: Finding) -> Finding:
    if finding.verdict is not Verdict.FAIL or finding.proof is not Proof.CAUSE or finding.claim is not Claim.MUST:
        return finding
    says = f"{finding.says}; but this machine stalled for {run.stalled_ms:.0f} ms meanwhile"
    return replace(finding, verdict=Verdict.UNKNOWN, says=says)
