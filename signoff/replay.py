"""One plan lived through again, and judged."""

from dataclasses import dataclass

from faults.plan import Plan
from suites.driver import Driver
from suites.findings import Claim, Verdict
from suites.judge import Judgement, invariant_of
from suites.lives import live, live_beside_twin
from suites.reach import Machine, unreachable
from suites.run import Run


class UnreachableError(ValueError):
    """The subject or the machine cannot reach what the plan asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A run of the plan, and what was judged of it."""

    run: Run
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """The worst of the musts."""
        return Verdict.UNKNOWN if self.judgement.verdict is None else self.judgement.verdict

    def lines(self) -> list[str]:
        """The verdict, then every finding that is not simply a pass."""
        lines = [self.verdict.name]
        for finding in self.judgement.findings:
            if finding.verdict is Verdict.PASS and finding.claim is not Claim.TELLS:
                continue
            lines.append(f"{finding.claim} {finding.check}: {finding.verdict.name}: {finding.says}")
            if finding.verdict is Verdict.FAIL:
                lines.append(f"  invariant: {invariant_of(finding.check)}")
        return lines


async def replay_plan(
    plan: Plan, driver: Driver, machine: Machine, *, times: int, twin: Plan | None = None
) -> list[Replayed]:
    """The plan, that many times, each on a fresh instance, one after the other; with a twin, each beside a run of
    that, and held against it.

    Raises UnreachableError where nothing could be run, ValueError for a twin of another shape, and SubjectError.
    """
    for one in (plan, twin):
        reason = None if one is None else unreachable(one, driver.subject.spec, machine)
        if reason is not None:
            raise UnreachableError(f"the plan cannot be run on {driver.subject.spec.facts.name}: {reason}")
    replays = []
    for _ in range(times):
        run, judgement = await (live(driver, plan) if twin is None else live_beside_twin(driver, plan, twin))
        replays.append(Replayed(run=run, judgement=judgement))
    return replays
