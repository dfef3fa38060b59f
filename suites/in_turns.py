"""Instances that serve one run after the other: where starting one takes longer than what is tried out on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from faults.plan import Plan
from suites.driver import Driver
from suites.ending import to_the_end
from suites.history import Kind
from suites.leading import lead_by_turns, lead_to_first, waits_at_first
from suites.lives import Lives
from suites.ownership import own_entries
from suites.run import Run
from suites.stage import Stage
from suites.subject import Isolation
from suites.way import Way, way_of

MOST_IDLE = 8  # that wait for the next run; of the others, whose way nobody goes, the oldest end


@asynccontextmanager
async def in_turns(driver: Driver) -> AsyncIterator[Lives]:
    """What lives through plans on instances that have served others, each alone meanwhile; on fresh ones where the
    subject keeps something between operations, or there is only one. Whatever fails here has to fail on a fresh one
    too before it is told.
    """
    spec = driver.subject.spec
    if spec.isolation is not Isolation.SHARED or spec.standing:
        yield driver
        return
    turns = _InTurns(driver)
    try:
        yield turns
    finally:
        await to_the_end(turns.close())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """An instance, and what ends it."""

    stage: Stage
    way: Way
    leaving: AsyncExitStack


class _InTurns:
    """See `in_turns`. _idle: the one that has served last is the last."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._idle: list[_Kept] = []

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """As `Driver.run`, but that what the subject sends later is in no ledger. Raises SubjectError."""
        kept, used = self._taken(way_of(plan)), True
        if kept is None:
            kept, used = await self._started(way_of(plan)), False
        is_well = False
        try:
            run = await self._lived(kept.stage, plan, turn, used=used)
            is_well = run.settled and run.died is None and run.history[-1].kind is Kind.OK
        finally:
            if not is_well:
                await to_the_end(kept.leaving.aclose())
        if is_well:
            self._idle.append(kept)
        return run

    async def close(self) -> None:
        """None of them is left that waits."""
        while self._idle:
            await self._idle.pop().leaving.aclose()

    def _taken(self, way: Way) -> _Kept | None:
        found = next((kept for kept in reversed(self._idle) if kept.way == way), None)
        if found is not None:
            self._idle.remove(found)
        return found

    async def _started(self, way: Way) -> _Kept:
        while len(self._idle) >= MOST_IDLE:
            await to_the_end(self._idle.pop(0).leaving.aclose())
        leaving = AsyncExitStack()
        stage = await leaving.enter_async_context(self._driver.stages.one(way=way))
        return _Kept(stage=stage, way=way, leaving=leaving)

    async def _lived(self, stage: Stage, plan: Plan, turn: int, *, used: bool) -> Run:
        driver = self._driver
        if turn:
            await lead_by_turns(stage, driver.numbers, plan, turn)
        elif used and waits_at_first(plan):
            await lead_to_first(stage, driver.numbers)
        if used:
            await stage.close_idle()
        run = await driver.run_on(stage, plan, company=used)
        began, over = run.ledger[0].seq - 1, len(stage.entries())
        run = await driver.look_into_sockets(stage, plan, run)
        operations = frozenset((*run.operations, *run.warmups, *run.fresh))
        return replace(run, ledger=own_entries(stage.entries(since=began), range(over - began), operations))
