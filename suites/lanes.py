"""Many runs side by side: each on a fresh instance, or several lanes of a shared one."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from faults.plan import Plan
from suites.driver import Driver
from suites.kept_chain import LANES as KEPT_LANES
from suites.kept_chain import run_kept
from suites.leading import lead_to_first, waits_at_first
from suites.ownership import own_entries
from suites.run import Run
from suites.shares import Shares
from suites.stage import Stage
from suites.subject import Isolation, SubjectSpec
from suites.together import together
from suites.way import way_of

FRESH_LANES = 16  # measured: more lanes only queue on two cores
SHARED_LANES = 8  # each is a process of the subject, and waits most of its time
QUIET_LANES = 16  # of one that cannot say when it is idle, which waits for its quiet window too
STARTED_TOGETHER = 2  # more would only take longer, and hold up what runs already

OnRun = Callable[[int, Run], None]  # place of the plan, its run


async def run_plans(driver: Driver, plans: Sequence[Plan], on_run: OnRun, *, lanes: int | None = None) -> None:
    """Live through all plans; `on_run` hears of each run as soon as its entries are complete.

    Raises SubjectError as soon as an instance cannot be started; the other runs are then cancelled and cleaned up.
    """
    if driver.subject.spec.isolation is Isolation.SHARED:
        most = 1 if driver.subject.spec.standing else lanes or shared_lanes(driver.subject.spec)
        shares, starting = Shares.of(plans), asyncio.Semaphore(STARTED_TOGETHER)
        await together(_shared(driver, plans, shares, starting, on_run) for _ in range(min(len(plans), most)))
        return
    if driver.subject.spec.first_shared and driver.toxiproxy is None:
        most, starting = lanes or KEPT_LANES, asyncio.Semaphore(STARTED_TOGETHER)
        places = _by_way(plans)
        await together(run_kept(driver, plans, places, starting, on_run) for _ in range(min(len(plans), most)))
        return
    most, places = lanes or FRESH_LANES, iter(range(len(plans)))
    if driver.subject.spec.standing:  # whose router is made anew for each way
        most, places = 1, _by_way(plans)
    await together(_fresh(driver, plans, places, on_run) for _ in range(min(len(plans), most)))


def _by_way(plans: Sequence[Plan]) -> Iterator[int]:
    return iter(sorted(range(len(plans)), key=lambda place: str(way_of(plans[place]))))


def shared_lanes(spec: SubjectSpec) -> int:
    """How many instances of it stand side by side at most, where they serve several runs each."""
    return SHARED_LANES if spec.quiet_ms is None else QUIET_LANES


async def _fresh(driver: Driver, plans: Sequence[Plan], places: Iterator[int], on_run: OnRun) -> None:
    for place in places:
        on_run(place, await driver.run(plans[place]))


async def _shared(
    driver: Driver, plans: Sequence[Plan], shares: Shares, starting: asyncio.Semaphore, on_run: OnRun
) -> None:
    while await _on_one(driver, plans, shares, starting, on_run):
        pass  # on the next one


async def _on_one(
    driver: Driver, plans: Sequence[Plan], shares: Shares, starting: asyncio.Semaphore, on_run: OnRun
) -> bool:
    """One instance for runs of one way, one after the other, as long as it lives; False where none is worth starting. A
    late entry belongs to the run whose operation it carries, so the runs are handed on when the instance is done with.
    """
    async with AsyncExitStack() as stack:
        batch = _Batch()
        stack.callback(batch.hand_on, on_run)  # when the stage is over; also of one that was interrupted
        async with starting:
            way = shares.enter()  # not before it can start: others take plans meanwhile
            if way is None:
                return False
            stack.callback(shares.leave, way)
            began = time.monotonic()
            stage = batch.stage = await stack.enter_async_context(driver.stages.one(way=way))
            shares.started(time.monotonic() - began, _shortest_s(driver.subject.spec))
        coming = [plans[place] for place in shares.left(way)]
        batch.used = await driver.measure_first(stage, coming, way)
        while (place := shares.take(way)) is not None:
            await batch.add(driver, stage, place, plans[place])
            if stage.instance.died() is not None:
                break
        batch.whole = True
        await stage.on_router(lambda router: router.drain())
    return True


def _shortest_s(spec: SubjectSpec) -> float:
    """What most runs take at least: the time-out that they meet, and the quiet window after it."""
    return (spec.read_timeout_ms + (spec.quiet_ms or 0)) / 1000


@dataclass(slots=True)
class _Batch:
    """The runs of one shared instance, with the window of its ledger in which each was going on. used: operations have
    gone over it, at the first of its runs in good health. whole: none was interrupted.
    """

    stage: Stage | None = None
    runs: list[tuple[int, Run, range]] = field(default_factory=list)
    used: bool = False
    whole: bool = False

    async def add(self, driver: Driver, stage: Stage, place: int, plan: Plan) -> None:
        if self.used and waits_at_first(plan) and not driver.subject.spec.standing:
            await lead_to_first(stage, driver.numbers)
        self.used = True
        await stage.close_idle()
        run = await driver.run_on(stage, plan, company=bool(self.runs))
        # As of a run alone, its ledger begins when its faults are armed: what was opened before is a reused connection.
        window = range(run.ledger[0].seq - 1, len(stage.entries()))
        self.runs.append((place, run, window))  # also of an interrupted one
        self.runs[-1] = place, await driver.look_into_sockets(stage, plan, run), window

    def hand_on(self, on_run: OnRun) -> None:
        entries = self.stage.entries() if self.stage is not None else ()
        self._own_up_to_death()
        for place, run, window in self.runs:
            numbers = frozenset((*run.operations, *run.warmups, *run.fresh))
            own = own_entries(entries[window.start :], range(len(window)), numbers)
            on_run(place, replace(run, ledger=own))

    def _own_up_to_death(self) -> None:
        """An instance that died after its last run was over died of it, or of one before: else nobody's run would
        show the death. Of an interrupted batch the last run is not here.
        """
        if self.stage is None or not self.runs or not self.whole:
            return
        died = self.stage.instance.died()
        place, run, window = self.runs[-1]
        if died is not None and run.died is None:
            self.runs[-1] = place, replace(run, died=died), window
