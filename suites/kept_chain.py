"""A chain whose first is kept from run to run, and whose second is fresh in each: what keeps no state is shared, what
keeps some is not.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from faults.plan import Plan
from suites.chain import ChainInstance, ChainSubject, Front, passed_over
from suites.driver import Driver
from suites.ending import to_the_end
from suites.history import Kind
from suites.run import Run
from suites.stages import Stages
from suites.subject import SubjectSpec
from suites.way import Address

LANES = 4  # each has a process of the first, which is slow to start

OnRun = Callable[[int, Run], None]  # place of the plan, its run


class KeptChain:
    """A chain for one run after the other: a Subject. starting: how many firsts are started at a time."""

    def __init__(self, chain: ChainSubject, starting: asyncio.Semaphore) -> None:
        self.chain = chain
        self._starting = starting
        self._front: Front | None = None

    @property
    def spec(self) -> SubjectSpec:
        """That of the chain."""
        return self.chain.spec

    async def start(self, upstreams: Sequence[Address]) -> ChainInstance:
        """A second of its own behind the first, which is started where there is none yet. Raises SubjectError."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._let_go)
            inner = await self.chain.inner.start(upstreams)
            stack.push_async_callback(inner.stop)
            if self._front is None:
                async with self._starting:
                    self._front = await self.chain.front(inner.address)
            self._front.lead_to(inner.address)
            return self.chain.joined(self._front, inner, stack.pop_all())

    def passed(self) -> Counter[int]:
        """How often each operation was sent from the first to any of the seconds, to this moment."""
        return Counter() if self._front is None else passed_over(self._front.hops)

    def died(self) -> str | None:
        """How its first ended by itself; None while it lives."""
        return None if self._front is None else self._front.outer.died()

    async def close(self) -> None:
        """Its first is ended too. Safe to call twice."""
        if self._front is not None:
            await self._front.stop()

    async def _let_go(self) -> None:
        if self._front is not None:
            await self._front.let_go()


async def run_kept(
    driver: Driver, plans: Sequence[Plan], places: Iterator[int], starting: asyncio.Semaphore, on_run: OnRun
) -> None:
    """Live through the plans at those places; `on_run` hears of runs when their first is done with, for what it sends
    late tells of an earlier run. Raises SubjectError.
    """
    assert isinstance(driver.subject, ChainSubject)
    for place in places:
        turns = _Turns(driver=driver, plans=plans, kept=KeptChain(driver.subject, starting))
        try:
            await turns.through(place, places)
        finally:
            await to_the_end(turns.kept.close())
            turns.hand_on(on_run)
        for doubtful in sorted(turns.doubtful):
            on_run(doubtful, await driver.run(plans[doubtful]))


@dataclass(slots=True, kw_only=True)
class _Turns:
    """The runs of one first. doubtful: the places of those to be lived through on a fresh one: it sent something of
    theirs after they were over, or of another's while they were going on. whole: none was interrupted.
    """

    driver: Driver
    plans: Sequence[Plan]
    kept: KeptChain
    lived: list[tuple[int, Run]] = field(default_factory=list)
    doubtful: set[int] = field(default_factory=set)
    whole: bool = False

    async def through(self, place: int, places: Iterator[int]) -> None:
        """That place, and those that follow, as long as nothing is amiss with it."""
        stages = Stages(self.kept, self.driver.routers, self.driver.numbers)
        while await self._is_well_after(place, stages):
            following = next(places, None)
            if following is None:
                break
            place = following
        self.whole = True

    async def _is_well_after(self, place: int, stages: Stages) -> bool:
        run = await self.driver.run_at(self.plans[place], stages, company=bool(self.lived))
        if late := self._late():
            self.doubtful |= {*late, place}
        self.lived.append((place, run))
        is_well = run.settled and run.died is None and self.kept.died() is None
        return is_well and run.history[-1].kind is Kind.OK and not late

    def _late(self) -> set[int]:
        """The places of those runs of which something was sent since they were over."""
        passed = self.kept.passed()
        return {place for place, run in self.lived if _more_came(run, passed)}

    def hand_on(self, on_run: OnRun) -> None:
        """All runs but those that are doubtful; one that ended the first shows its death."""
        self.doubtful |= self._late()
        died = self.kept.died()
        if self.whole and died is not None and self.lived and self.lived[-1][1].died is None:
            place, run = self.lived[-1]
            self.lived[-1] = place, replace(run, died=died)
        for place, run in self.lived:
            if place not in self.doubtful:
                on_run(place, run)


def _more_came(run: Run, passed: Counter[int]) -> bool:
    numbers = (*run.operations, *run.warmups, *run.fresh)
    return any(passed[number] > (run.between or {}).get(number, 0) for number in numbers)
