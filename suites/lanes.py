"""Many runs side by side: each on a fresh instance, or several lanes of a shared one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from faults.plan import Plan
from suites.driver import Driver
from suites.leading import lead_to_first, waits_at_first
from suites.ownership import own_entries
from suites.run import Run
from suites.stage import Stage
from suites.subject import Isolation
from suites.together import together
from suites.way import way_of

FRESH_LANES = 16  # measured: more lanes only queue on two cores
SHARED_LANES = 4  # each is a process of the subject

OnRun = Callable[[int, Run], None]  # place of the plan, its run


async def run_plans(driver: Driver, plans: Sequence[Plan], on_run: OnRun, *, lanes: int | None = None) -> None:
    """Live through all plans; `on_run` hears of each run as soon as its entries are complete.

    Raises SubjectError as soon as an instance cannot be started; the other runs are then cancelled and cleaned up.
    """
    places = iter(
        sorted(range(len(plans)), key=lambda place: str(way_of(plans[place])))
    )  # those of one way share an instance
    shared = driver.subject.spec.isolation is Isolation.SHARED
    most = 1 if driver.subject.spec.standing else lanes or (SHARED_LANES if shared else FRESH_LANES)
    count = min(len(plans), most)
    lane = _shared if shared else _fresh
    await together(lane(driver, plans, places, on_run) for _ in range(count))


async def _fresh(driver: Driver, plans: Sequence[Plan], places: Iterator[int], on_run: OnRun) -> None:
    for place in places:
        on_run(place, await driver.run(plans[place]))


async def _shared(driver: Driver, plans: Sequence[Plan], places: Iterator[int], on_run: OnRun) -> None:
    """One instance for many runs, one after the other. A late entry belongs to the run whose operation it carries,
    so the runs are handed on when the instance is done with.
    """
    place = next(places, None)
    while place is not None:
        async with AsyncExitStack() as stack:
            batch = _Batch()
            stack.callback(batch.hand_on, on_run)  # when the stage is over; also of one that was interrupted
            way = way_of(plans[place])
            stage = batch.stage = await stack.enter_async_context(driver.stages.one(way=way))
            while place is not None and way_of(plans[place]) == way and stage.instance.died() is None:
                await batch.add(driver, stage, place, plans[place])
                place = next(places, None)
            batch.whole = True
            await stage.on_router(lambda router: router.drain())


@dataclass(slots=True)
class _Batch:
    """The runs of one shared instance, with the window of its ledger in which each was going on. whole: none was
    interrupted.
    """

    stage: Stage | None = None
    runs: list[tuple[int, Run, range]] = field(default_factory=list)
    whole: bool = False

    async def add(self, driver: Driver, stage: Stage, place: int, plan: Plan) -> None:
        if self.runs and waits_at_first(plan) and not driver.subject.spec.standing:
            await lead_to_first(stage, driver.numbers)
        since = len(stage.entries())
        await stage.close_idle()
        run = await driver.run_on(stage, plan, company=bool(self.runs))
        self.runs.append((place, run, range(since, len(stage.entries()))))

    def hand_on(self, on_run: OnRun) -> None:
        entries = self.stage.entries() if self.stage is not None else ()
        self._own_up_to_death()
        for place, run, window in self.runs:
            own = own_entries(entries, window, frozenset((*run.operations, *run.warmups, *run.fresh)))
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
