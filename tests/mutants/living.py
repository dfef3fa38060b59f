"""Lets mutants live through the matrix's plans, and tells which checks killed them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from suites.cells import all_cells
from suites.driver import Driver
from suites.findings import Claim, Finding, Verdict
from suites.judge import judge, judge_twins
from suites.lives import TRIES, stalled
from suites.processes import Supervisor
from suites.pulse import Pulse
from suites.reach import Machine, unreachable
from suites.run import Run
from tests.mutants.roster import roster

CELLS = {cell.id: cell for cell in all_cells()}

# A cell holds one operation; answers can be mixed up only between several.
TOGETHER: Mapping[str, Plan] = {
    "together/slow-beside-healthy": Plan(
        operations=(PlannedOperation(faults=("slow-inside",)), PlannedOperation(gate="received:0"))
    ),
    "together/refused-beside-healthy": Plan(
        operations=(PlannedOperation(faults=("503-no-workers",)), PlannedOperation(gate="received:0"))
    ),
}

_LANES = 24  # nearly all of a run is waiting: in so many lanes two cores are half busy


class How(StrEnum):
    """How a check tells a mutant from what it could have been."""

    FAIL = "FAIL"  # a must or a should is broken
    UNKNOWN = "UNKNOWN"  # a must is not shown
    TOLD = "TOLD"  # what is only told differs from what the unbroken forwarder did


@dataclass(frozen=True, slots=True, order=True)
class Kill:
    """One entry of a row."""

    how: How
    check: str

    def __str__(self) -> str:
        return f"{self.check} ({self.how})"


@dataclass(slots=True)
class Life:
    """The runs of one mutant, by the id of their cell or plan."""

    runs: dict[str, Run] = field(default_factory=dict)

    def kills(self, unbroken: "Life") -> dict[Kill, dict[str, str]]:
        """Every kill, with the ids of the plans in which it happened, and what the finding says."""
        found: dict[Kill, dict[str, str]] = {}
        for id_, run in sorted(self.runs.items()):
            for finding in (*judge(run).findings, *self._twins_of(id_)):
                for kill in _kills_by(finding):
                    found.setdefault(kill, {})[id_] = finding.says
            if id_ not in unbroken.runs:
                continue  # out of its reach
            tells, told = _told(run), _told(unbroken.runs[id_])
            for check in tells.keys() | told.keys():
                if tells.get(check) != told.get(check):
                    found.setdefault(Kill(How.TOLD, check), {})[id_] = (
                        f"{tells.get(check)} in place of {told.get(check)}"
                    )
        return found

    def _twins_of(self, id_: str) -> list[Finding]:
        twin = self.runs.get(CELLS[id_].twin or "") if id_ in CELLS else None
        return [] if twin is None else judge_twins(self.runs[id_], twin)


def _kills_by(finding: Finding) -> Iterator[Kill]:
    if finding.claim is not Claim.TELLS and finding.verdict is Verdict.FAIL:
        yield Kill(How.FAIL, finding.check)
    if finding.claim is Claim.MUST and finding.verdict is Verdict.UNKNOWN:
        yield Kill(How.UNKNOWN, finding.check)


def _told(run: Run) -> dict[str, list[str]]:
    """What is told of each check, without the numbers of operations, which differ from run to run."""
    told: dict[str, list[str]] = {}
    for finding in judge(run).findings:
        if finding.claim is Claim.TELLS:
            told.setdefault(finding.check, []).append(finding.says.replace(f"operation {finding.operation}", "it"))
    return told


async def live(cells: Sequence[str]) -> dict[str, Life]:
    """Everyone through these cells and what goes together; what cannot be reached is left out."""
    plans = {**{id_: CELLS[id_].plan for id_ in cells}, **TOGETHER}
    machine = Machine.here()
    with RouterThread() as routers:
        async with Supervisor() as supervisor:
            subjects = roster(supervisor)
            pulses = [Pulse(), await routers.call(Pulse)]
            drivers = {
                name: Driver(subject=subject, routers=routers, pulses=pulses) for name, subject in subjects.items()
            }
            lives = {name: Life() for name in subjects}
            wanted = iter(
                [
                    (name, id_, plan)
                    for name, subject in subjects.items()
                    for id_, plan in plans.items()
                    if unreachable(plan, subject.spec, machine) is None
                ]
            )

            async def lane() -> None:
                for name, id_, plan in wanted:
                    lives[name].runs[id_] = await _run(drivers[name], plan)

            async with asyncio.TaskGroup() as group:
                for _ in range(_LANES):
                    group.create_task(lane())
    return lives


async def _run(driver: Driver, plan: Plan) -> Run:
    """One run. A stall of the machine can save a mutant as well as kill what is unbroken: then it is run again."""
    run = await driver.run(plan)
    for _ in range(TRIES - 1):
        if not stalled(run):
            break
        run = await driver.run(plan)
    return run
