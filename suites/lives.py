"""One plan lived through until the run can be believed, and judged."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from faults.plan import Plan
from suites.checks.vacuity import CHECK as VACUITY
from suites.driver import Driver
from suites.findings import Claim, Finding, Proof, Verdict
from suites.judge import Judgement, judge, judge_twins, judgement_of
from suites.run import Run

AT_A_TIME = 8  # that live alone: each may be a process that takes a second to start
TRIES = 3
TURNS = 5  # of one that chooses another upstream each time

Record = Callable[[Run], None]


class Lives(Protocol):
    """What lives through plans: a Driver, or one that has its runs on instances of other kinds."""

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """As `Driver.run`."""


async def live(driver: Lives, plan: Plan, record: Record = lambda run: None) -> tuple[Run, Judgement]:
    """The plan on a fresh instance, judged. While the machine stalls, what rests on cause or timing is not believed:
    the plan is lived through again, and after TRIES it is UNKNOWN. So is a plan whose faulty upstream the subject has
    not chosen, at most TURNS times. `record` hears of every run, believed or not.

    Raises SubjectError.
    """
    doubts = turns = 0
    while True:
        run = await driver.run(plan, turn=turns)
        record(run)
        judgement = judge(run)
        doubtful, elsewhere = is_doubtful(run, judgement), _went_elsewhere(run, judgement)
        doubts += doubtful
        turns += elsewhere
        if doubts == TRIES or turns == TURNS or not (doubtful or elsewhere):
            break
    return run, judgement_of(doubted(judgement.findings, run.stalled_ms)) if doubtful else judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """Where plans live that must not have company: each on an instance that nobody else uses meanwhile, which a Driver
    starts for it, and only a few of them at a time.
    """

    driver: Lives
    places: asyncio.Semaphore

    async def live(self, plan: Plan, record: Record = lambda run: None) -> tuple[Run, Judgement]:
        """As `live` does. Raises SubjectError."""
        async with self.places:
            return await live(self.driver, plan, record)


def _went_elsewhere(run: Run, judgement: Judgement) -> bool:
    """Most fresh instances begin with their first upstream; others by chance, and one that stands goes on where it
    was, so that the only thing amiss may be that it has not met the faulty one.
    """
    one_of_many = any(listener.upstream is not None for listener in run.plan.listeners)
    return one_of_many and met_nothing(run, judgement)


def met_nothing(run: Run, judgement: Judgement) -> bool:
    """All that is amiss is that a fault was not seen to strike. What hung, or crashed a check, is no such run."""
    if judgement.verdict is not Verdict.UNKNOWN:
        return False
    return run.settled and all(finding.check == VACUITY.name for finding in judgement.unknowns)


async def live_or_again(driver: Driver, plan: Plan) -> tuple[Run, Judgement]:
    """The same, with one more chance for a run that met nothing: it proves no less, and can hide no FAIL.

    Raises SubjectError.
    """
    run, judgement = await live(driver, plan)
    return await live(driver, plan) if met_nothing(run, judgement) else (run, judgement)


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
