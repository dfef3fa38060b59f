"""What a plan does to a container is done: at its moment, which the routers hold for it; and undone."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from fake_router.injector import poison_gate
from fake_router.server import Router
from faults.catalogue import fault_named
from faults.disturbance import FROZEN, Disturb, Disturbing, Whose
from faults.plan import Plan
from faults.poison import Moment
from suites.history import Outcome
from suites.stage import Stage


@runtime_checkable
class Disturbable(Protocol):
    """An instance in a container, with another before its routers. Raises SubjectError where an engine fails."""

    async def disturb(self, how: Disturbing, whose: Whose = Whose.ROUTER) -> int:
        """Do it to that container; it is so when this returns. Since when, at the latest (machine's monotonic clock,
        ns).
        """

    async def disturbed(self, how: Disturbing) -> bool:
        """The engine says that it was done, and is so."""

    async def calm(self) -> None:
        """Undo it; the container serves again when this returns."""


class Disturbed:
    """What one run does to a container; nothing, where its plan says so."""

    def __init__(self, stage: Stage, plan: Plan) -> None:
        acts = [act for each in plan.listeners if isinstance(act := fault_named(each.fault).act, Disturb)]
        self._act = acts[0] if acts else None
        self._stage = stage
        self._waiting: list[asyncio.Task[None]] = []  # until an exchange is held; then it is done to the end
        self._doing: asyncio.Task[None] | None = None
        self._undone = False
        self._so_since_ns = 0
        self.late_ms = 0.0  # how long its engine took from the first call on, where that was too long

    async def begin(self) -> None:
        """Do it now, or beside the run, when an exchange is held."""
        if self._act is None:
            return
        if not self._act.holds:
            self._so_since_ns = await self._instance.disturb(self._act.how, self._act.whose)
            return
        gates = [poison_gate(upstream) for upstream in range(len(self._stage.ports))]
        self._waiting = [asyncio.ensure_future(self._when_held(gate, self._act)) for gate in gates]

    async def settle(self, history: Sequence[Outcome]) -> None:
        """Every operation has its outcome: record whether it struck, and undo it."""
        await self.stop_waiting()
        if self._act is None or self._undone:
            return
        if self._act.has_to_be_in_time:
            took_ms = (self._so_since_ns - min(outcome.invoked_at_ns for outcome in history)) / 1_000_000
            self.late_ms = took_ms if took_ms >= self._stage.subject.spec.read_timeout_ms else 0.0
        await self._undo(self._act)

    async def _undo(self, act: Disturb) -> None:
        """An engine that took as long as the subject is patient may have come too late for it: nobody can say whether
        what was done has struck it.
        """
        self._undone = True
        if not self.late_ms and await self._instance.disturbed(act.how):
            await self._stage.on_router(lambda router: router.between.disturbed())
        await self._instance.calm()
        await self._stage.on_router(lambda router: router.note("container healthy again"))

    async def stop_waiting(self) -> None:
        """Where no exchange has come nothing is done any more. Raises what doing it raised."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)
        self._waiting.clear()
        if self._doing is not None:
            doing, self._doing = self._doing, None
            await doing

    @property
    def _instance(self) -> Disturbable:
        instance = self._stage.instance
        if not isinstance(instance, Disturbable):
            raise TypeError(f"a container before {instance!r}; expected a stack that has one")
        return instance

    async def _when_held(self, gate: str, act: Disturb) -> None:
        """Once: what comes when it was done is held, and stays so."""
        await self._stage.held(gate)
        if self._doing is None:
            self._doing = asyncio.ensure_future(self._do(act))

    async def _do(self, act: Disturb) -> None:
        """A worker that has not run what it received never does: that it goes no further is what was done to it."""
        upstreams = range(len(self._stage.ports))
        for upstream in upstreams:
            await self._stage.on_router(partial(_begins, upstream))
        self._so_since_ns = await self._instance.disturb(act.how, act.whose)
        await self._stage.on_router(lambda router: router.note(f"container: {act.how}"))
        if act.at is not Moment.RECEIVED:
            for gate in map(poison_gate, upstreams):
                await self._stage.on_router(partial(Router.open_gate, name=gate))
        if act.thaws:
            await asyncio.sleep(FROZEN * self._stage.subject.spec.read_timeout_ms / 1000)  # the fault is this time
            await self._undo(act)


def _begins(upstream: int, router: Router) -> None:
    router.between.setting_poison(upstream, begun=True)
