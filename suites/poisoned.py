"""A plan's toxics are set: each at its moment, which the router holds for it."""

import asyncio
from collections.abc import Iterator

from fake_router.injector import poison_gate
from faults.catalogue import fault_named
from faults.plan import Plan
from faults.poison import Moment, Poison
from faults.toxics import Direction
from suites.stage import Stage


class Poisoned:
    """The toxics of one run. Raises ToxiproxyError from every method where Toxiproxy fails: the run is none then."""

    def __init__(self, stage: Stage, plan: Plan) -> None:
        self._stage = stage
        self._read_timeout_ms = stage.subject.spec.read_timeout_ms
        self._poisons = dict(_poisons_of(plan, len(stage.ports)))
        self._waiting: list[asyncio.Task[None]] = []  # until their exchange is held; then they are done to the end
        self._setting: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Set those whose moment is now; wait, beside the run, for the exchanges of the others."""
        for upstream, act in self._poisons.items():
            if act.holds:
                self._waiting.append(asyncio.ensure_future(self._when_held(upstream, act)))
            else:
                await self._set(upstream, act)

    async def settle(self) -> None:
        """The run has settled: record which of them struck."""
        await self.stop_waiting()
        if not self._poisons:
            return
        passage = self._stage.passage
        met = await self._stage.on_router(lambda router: router.between.poisoned())
        in_force = met & await passage.poisoned()
        over = await self._stage.poisons_over(in_force)
        lost = {upstream: lost for upstream in over if (lost := await self._lost(upstream))}
        await self._stage.on_router(lambda router: router.between.settle_poisons(lost=lost, in_force=in_force))

    async def lift(self) -> None:
        """None of them is there any more."""
        if self._poisons:
            await self._stage.passage.lift()
            await self._stage.on_router(lambda router: router.note("toxics lifted"))
            await self._stage.noticed()  # a time-out that is lifted closes what it held

    async def stop_waiting(self) -> None:
        """Those whose exchange has not come are not set any more."""
        for task in self._waiting:
            task.cancel()
        ended = await asyncio.gather(*self._waiting, return_exceptions=True)
        ended += await asyncio.gather(*self._setting, return_exceptions=True)
        self._waiting.clear()
        self._setting.clear()
        for error in ended:
            if isinstance(error, Exception):  # no cancellation, which is ours
                raise error

    async def _when_held(self, upstream: int, act: Poison) -> None:
        await self._stage.held(poison_gate(upstream))
        self._setting.append(asyncio.ensure_future(self._set_and_go_on(upstream, act)))

    async def _set_and_go_on(self, upstream: int, act: Poison) -> None:
        """What is held when it was received stays held: that it never goes on is what the toxic does to it."""
        gate = poison_gate(upstream)
        await self._set(upstream, act)
        if act.at is not Moment.RECEIVED:
            await self._stage.on_router(lambda router: router.open_gate(gate))

    async def _set(self, upstream: int, act: Poison) -> None:
        await self._stage.on_router(lambda router: router.between.setting_poison(upstream, begun=True))
        await self._stage.passage.poison(upstream, act.in_toxiproxy(self._read_timeout_ms))
        await self._stage.on_router(lambda router: router.between.setting_poison(upstream, begun=False))
        mark = f"toxic {act.toxic} on the way to upstream {upstream}"
        await self._stage.on_router(lambda router: router.note(mark))

    async def _lost(self, upstream: int) -> int:
        act = self._poisons[upstream]
        direction = act.direction or Direction.DOWNSTREAM
        return await self._stage.passage.lost(upstream, direction) if act.loses_bytes else 0


def _poisons_of(plan: Plan, upstreams: int) -> Iterator[tuple[int, Poison]]:
    for planned in plan.listeners:
        act = fault_named(planned.fault).act
        if isinstance(act, Poison):
            hit = range(upstreams) if planned.upstream is None else (planned.upstream,)
            yield from ((upstream, act) for upstream in hit)
