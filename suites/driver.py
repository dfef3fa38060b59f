"""One run: warm up, break, call, settle, heal, call again; then everything that happened, for the checks.

The driver decides nothing about right and wrong. Order comes from events of the router; the only clock in here
is the quiet window of a subject that cannot say when it is idle.
"""

import asyncio
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Self

from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.catalogue import fault_named
from faults.plan import LEFT_GATE, MAX_OPERATIONS, Plan, PlannedOperation
from faults.truth import speaks_unasked
from suites.disturbed import Disturbed
from suites.history import Kind, Outcome
from suites.holding import CLOSING_STEP_S, held_after, looked_into
from suites.leading import lead_by_turns
from suites.leaving import Leave
from suites.numbers import Numbers
from suites.occupying import Occupant, occupied
from suites.ownership import own_entries
from suites.passage import Toxiproxy
from suites.poisoned import Poisoned
from suites.pulse import Pulse
from suites.reaching import has_come
from suites.run import Run
from suites.settling import last_words, settle
from suites.stage import Stage
from suites.stages import Stages
from suites.subject import InProcess, Layered, Subject
from suites.warming import Warmth, WarmUp, arm, most_met
from suites.way import Way, way_of


@dataclass(slots=True, kw_only=True)
class Driver:
    """Lives through plans with fresh instances of one subject; many runs may be under way at once.

    An async context manager: leaving it ends what it measures beside the runs, and the pulses that it made. Raises
    SubjectError from `run` when an instance cannot be started.
    """

    subject: Subject
    routers: RouterThread
    toxiproxy: Toxiproxy | None = None
    numbers: Numbers = field(default_factory=Numbers)
    pulses: list[Pulse] = field(default_factory=list)
    _own_pulses: list[Pulse] = field(default_factory=list)
    stages: Stages = field(init=False)
    _warmth: Warmth = field(init=False)

    def __post_init__(self) -> None:
        self.stages = Stages(self.subject, self.routers, self.numbers, self.toxiproxy)
        self._warmth = Warmth(subject=self.subject, stages=self.stages, numbers=self.numbers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._warmth.close()
        await self.stages.close()
        for pulse in self._own_pulses:
            pulse.stop_soon()

    async def run(self, plan: Plan, *, turn: int = 0) -> Run:
        """The plan on an instance of its own, or the one that stands. turn: how many did not meet its fault before."""
        return await self.run_at(plan, self.stages, turn=turn)

    async def run_at(self, plan: Plan, stages: Stages, *, turn: int = 0, company: bool = False) -> Run:
        """The same, on one of these stages. company: others have used a part of what stands there. What the subject
        sends while it is stopped is in the ledger too.
        """
        async with stages.one(way=way_of(plan)) as stage:
            if turn:
                await lead_by_turns(stage, self.numbers, plan, turn)
            run = await self.run_on(stage, plan, company=company)
            over = len(stage.entries()) if run.sockets.beyond_health else None
            run = await self.look_into_sockets(stage, plan, run)
        began = run.ledger[0].seq - 1
        entries = stage.entries(since=began)
        operations = frozenset((*run.operations, *run.warmups, *run.fresh))
        window = range(len(entries) if over is None else over - began)
        return replace(run, ledger=own_entries(entries, window, operations))

    async def run_on(self, stage: Stage, plan: Plan, *, company: bool = False, allowed: int = 0) -> Run:
        """The plan on an instance that exists: the steps of a run, one after the other, and therefore in one place.
        allowed: sockets that it may hold, whatever it holds in health.
        """
        await self.feel_pulses()
        started_ns = time.monotonic_ns()
        spec = self.subject.spec
        warm_up = await self._warm_up(stage, plan)
        if plan.listeners and not _reuses(plan):
            await stage.close_idle()  # a connection that its probes have left is met by no fault of a listener
        operations = self.numbers.take(len(plan.operations))
        async with AsyncExitStack() as stack:
            occupants = (await self._occupant(stack, stage, plan),) if way_of(plan).max_connections else ()
            since = await stage.on_router(lambda router: arm(router, plan, operations[0], spec.read_timeout_ms))
            poisoned = Poisoned(stage, plan)
            stack.push_async_callback(poisoned.stop_waiting)
            await poisoned.begin()
            disturbed = Disturbed(stage, plan)
            stack.push_async_callback(disturbed.stop_waiting)
            await disturbed.begin()
            if plan.listeners:
                await stage.noticed()  # a connection that was ended while it lay idle
            for occupant in occupants:
                occupant.calling()
            history = await self._waves(stage, plan, operations)
            await disturbed.settle(history)
        settled = await settle(stage, spec)
        busy = "" if settled else last_words(stage.instance)
        if stage.through is not None:
            await stage.greetings_over()  # a subject may have gone on before its end is passed on
        await poisoned.settle()
        await stage.on_router(_drain_and_heal)
        await poisoned.lift()
        if stage.through is not None:
            await stage.noticed()  # what was ended by healing is passed on later
        fresh = await self._fresh(stage)
        settled = await self._settle_again(stage) and settled
        busy = "" if settled else busy or last_words(stage.instance)
        # The operations may have met on one upstream, though in health they were spread over several.
        met = min(plan.concurrency, most_met(stage.entries(since=since), operations)) + len(occupants)
        together = _together(stage, plan)
        allowed = max(allowed, met)
        sockets = await held_after(stage, plan, warm_up, self._warmth, allowed=allowed, together=together)
        await stage.on_router(lambda router: router.drain())
        if has_come(stage.entries(since=since), {*operations, *(outcome.operation for outcome in fresh)}):
            self.stages.reached()
        else:
            await self.stages.require_reaching()
        return Run(
            plan=plan,
            subject=spec.facts,
            operations=operations,
            warmups=(*warm_up.operations, *(occupant.number for occupant in occupants)),
            fresh=tuple(outcome.operation for outcome in fresh),
            ledger=stage.entries(since=since),
            history=(*history, *fresh),
            sockets=sockets,
            settled=settled,
            busy=busy,
            died=stage.instance.died(),
            company=company,
            overlaid=not plan.under or await stage.overlaid(),
            stalled_ms=max(disturbed.late_ms, *(pulse.worst_since(started_ns) for pulse in self.pulses)),
            shortest_timeout_ms=min(spec.read_timeout_ms, spec.connect_timeout_ms),
            between=stage.instance.passed() if isinstance(stage.instance, Layered) else None,
        )

    async def _occupant(self, stack: AsyncExitStack, stage: Stage, plan: Plan) -> Occupant:
        """An operation that holds the only connection of the pool."""
        return await stack.enter_async_context(occupied(stage, plan, self.numbers))

    async def feel_pulses(self) -> None:
        """One pulse on each loop of ours that a run goes over; made once."""
        if not self.pulses:
            self._feel(Pulse())
            self._feel(await self.routers.call(Pulse))
            if isinstance(self.subject, InProcess):
                self._feel(await self.subject.pulse())

    def _feel(self, pulse: Pulse) -> None:
        self.pulses.append(pulse)
        self._own_pulses.append(pulse)

    async def measure_first(self, stage: Stage, plans: Iterable[Plan], way: Way) -> bool:
        """Count there what a healthy one holds, as these plans will ask; nothing has happened to it yet. False: nothing
        was to be counted, and nothing has happened to it now either.
        """
        if self.subject.spec.standing:
            return False  # there is only one, which is measured for each plan
        asked = {plan.concurrency for plan in plans if not _reuses(plan)}
        return await self._warmth.measured_first(stage, asked, way)

    async def _warm_up(self, stage: Stage, plan: Plan) -> WarmUp:
        """How many sockets a healthy subject holds to one upstream; done on this very instance only where the plan asks
        for reused connections, since it leaves some.
        """
        if _reuses(plan):
            return await self._warmth.warm_up(stage, _together(stage, plan))
        if self.subject.spec.standing:
            return await self._warmth.measured_here(stage, plan.concurrency)
        warm = await self._warmth.measured(plan.concurrency, way_of(plan))
        return WarmUp(sockets=warm or 0, operations=(), healthy=warm is not None)

    async def _waves(self, stage: Stage, plan: Plan, operations: tuple[int, ...]) -> list[Outcome]:
        history: list[Outcome] = []
        for wave in sorted({planned.wave for planned in plan.operations}):
            together = [
                self._call(stage, planned, number)
                if planned.leaves is None
                else self._call_and_leave(stage, planned, number, f"{LEFT_GATE}{index}")
                for index, (planned, number) in enumerate(zip(plan.operations, operations, strict=True))
                if planned.wave == wave
            ]
            history += await asyncio.gather(*together)
            if any(speaks_unasked(fault_named(fault).act) for fault in _faults_of(plan, wave)):
                await stage.all_over(self.subject.spec.ceiling_ms / 1000)  # what follows is to come after that
        return history

    async def _call(self, stage: Stage, planned: PlannedOperation, number: int) -> Outcome:
        return await stage.instance.call(planned, number, self.subject.spec.ceiling_ms)

    async def _call_and_leave(self, stage: Stage, planned: PlannedOperation, number: int, gate: str) -> Outcome:
        """Its caller leaves once it has been received: of a stream that begins, when some of it has come, or the
        subject has had a third of its read timeout to pass it on. What it holds at its gate goes on when the subject
        has ended its exchange, or has had as long to do so.
        """
        assert planned.leaves is not None
        spec = self.subject.spec
        leave = Leave(how=planned.leaves)
        call = asyncio.ensure_future(stage.instance.call(planned, number, spec.ceiling_ms, leave))
        try:
            await stage.received(number, unless=call)
            if planned.begins_for_its_caller:
                await leave.begun_or(call, spec.read_timeout_ms / 3000)
            leave.told.set()
            await leave.gone_or(call)
            await stage.all_over(spec.read_timeout_ms / 3000)
            await stage.on_router(lambda router: router.open_gate(gate))
            return await call
        finally:
            call.cancel()

    async def _fresh(self, stage: Stage) -> list[Outcome]:
        """As many fresh operations as there are upstreams, one after the other: one alone may miss a pool that is
        dead. The first that fails is the last.
        """
        outcomes: list[Outcome] = []
        for _ in stage.ports:
            outcomes.append(await self._call(stage, self.subject.spec.plain, self.numbers.take(1)[0]))
            if outcomes[-1].kind is not Kind.OK:
                break
        return outcomes

    async def _settle_again(self, stage: Stage) -> bool:
        """Nothing of the fresh operations is under way any more. No second quiet window: what comes later is seen when
        the instance is stopped.
        """
        if await stage.instance.idle() is None:
            await asyncio.sleep(CLOSING_STEP_S)  # a caller may have its answer before a pool has its connection
            return await stage.all_over(self.subject.spec.ceiling_ms / 1000)
        return await settle(stage, self.subject.spec)

    async def look_into_sockets(self, stage: Stage, plan: Plan, run: Run) -> Run:
        """Where it holds more than in health: is that lost, or kept for use? Afterwards entries of the ledger belong to
        the run only where they carry its operations.
        """
        return await looked_into(
            run, stage, self._warmth, lambda held: self.run_on(stage, plan, company=True, allowed=held)
        )


def _drain_and_heal(router: Router) -> None:
    router.drain()
    router.heal()


def _faults_of(plan: Plan, wave: int) -> list[str]:
    return [fault for planned in plan.operations if planned.wave == wave for fault in planned.faults]


def _reuses(plan: Plan) -> bool:
    return any(operation.reused for operation in plan.operations)


def _together(stage: Stage, plan: Plan) -> int:
    """How many are in flight together in good health. For reused connections on every upstream as many as are needed
    if all operations choose the same one.
    """
    return min(MAX_OPERATIONS, plan.concurrency * (len(stage.ports) if _reuses(plan) else 1))
