"""Amplification: what a subject makes of many operations at once while its router is down, slow, or half broken."""

import asyncio
import tomllib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from importlib.resources import files

from fake_router.entries import Executed, Received
from faults.plan import Plan, PlannedOperation
from signoff.report import Loaded
from suites.crowd import crowded
from suites.driver import Driver
from suites.history import Kind
from suites.lives import TRIES
from suites.reach import Machine, unreachable
from suites.run import Run
from suites.stage import Stage
from suites.subject import Isolation, Patient, SubjectSpec

AT_ONCE = (1, 10, 100, 1_000)
FEW = 100  # up to so many hardly disturb another load: they go on side by side at first
LARGE = 1_000  # to call so many at once stalls most machines, again as the first time
SENDINGS = 8  # of one operation, which all meet the fault; whoever sends more often meets a healthy router


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state of the router: what each exchange of every `every`-th operation meets; the others pass."""

    name: str
    says: str
    fault: str
    every: int


_FILE = files("signoff") / "mixes" / "loads.toml"
STATES = tuple(State(**state) for state in tomllib.loads(_FILE.read_text("utf-8"))["state"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """So many operations in flight together, in that state of the router."""

    state: State
    at_once: int

    def plan(self, upstreams: int) -> Plan:
        """For a subject in front of so many upstreams."""
        broken = PlannedOperation(faults=(self.state.fault,) * SENDINGS)
        every = self.state.every
        operations = tuple(broken if n % every == 0 else PlannedOperation() for n in range(self.at_once))
        return Plan(operations=operations, upstreams=upstreams, name=f"{self.state.name}, {self.at_once} at once")


def loads_up_to(most: int) -> tuple[Load, ...]:
    """Every state, with every number of operations up to that."""
    return tuple(Load(state=state, at_once=n) for state in STATES for n in AT_ONCE if n <= most)


Alone = Callable[[], AbstractAsyncContextManager[None]]


async def loaded_with(
    loads: Sequence[Load],
    driver: Driver,
    machine: Machine,
    tick: Callable[[], None] = lambda: None,
    alone: Alone = nullcontext,
) -> tuple[Loaded, ...]:
    """The small ones side by side on instances of their own, the others, and those in which this machine stalled, one
    after the other; all of them so on one that may be shared. Nothing is judged. `tick` hears of each; what comes one
    after the other does so inside `alone`. Raises SubjectError.
    """
    found: dict[Load, Loaded] = {}
    async with AsyncExitStack() as stack:
        crowd = _crowd(driver, stack)
        patient = await _patient(driver, stack)

        async def measured(load: Load, tries: int) -> None:
            by, through = patient if load.at_once >= LARGE else (driver, crowd)
            one = await _measured(load, by, machine, through, tries)
            if one is not None:
                found[load] = one
                tick()

        few = [] if _is_shared(driver) else [load for load in loads if load.at_once <= FEW]
        await asyncio.gather(*(measured(load, 1) for load in few))
        async with alone():
            for load in loads:
                if load not in found:
                    await measured(load, TRIES if load.at_once < LARGE else 1)
    return tuple(found.get(load) or _stalled(load) for load in loads)


async def _patient(driver: Driver, stack: AsyncExitStack) -> "tuple[Driver, _Crowd]":
    """Who calls so many that it takes this machine longer than one exchange may: the subject with longer time-outs,
    where it has such. Only attempts and executions are counted, which do not depend on how long they are.
    """
    if isinstance(driver.subject, Patient):
        driver = await stack.enter_async_context(
            Driver(subject=driver.subject.patient(), routers=driver.routers, numbers=driver.numbers)
        )
    return driver, _crowd(driver, stack)


_Crowd = Callable[[Plan], Awaitable[Run]]


def _is_shared(driver: Driver) -> bool:
    return driver.subject.spec.standing or driver.subject.spec.isolation is Isolation.SHARED


def _crowd(driver: Driver, stack: AsyncExitStack) -> _Crowd:
    """On an instance of its own; of one that may be shared on the same, for as long as it lives."""
    kept: list[Stage] = []

    async def alone(plan: Plan) -> Run:
        async with driver.stages.one() as stage:
            return await crowded(driver, stage, plan)

    async def shared(plan: Plan) -> Run:
        if not kept or kept[-1].instance.died() is not None:
            await stack.aclose()  # one that stands is had by one at a time
            kept.append(await stack.enter_async_context(driver.stages.one()))
        return await crowded(driver, kept[-1], plan)

    return shared if _is_shared(driver) else alone


async def _measured(load: Load, driver: Driver, machine: Machine, crowd: _Crowd, tries: int) -> Loaded | None:
    """None where this machine stalled in each of them: such a run says nothing about the subject."""
    spec = driver.subject.spec
    plan = load.plan(spec.upstreams)
    reason = unreachable(plan, spec, machine)
    if reason is not None:
        return Loaded(state=load.state.name, at_once=load.at_once, reason=reason)
    for _ in range(tries):
        run = await crowd(plan)
        if not came_late(run, spec):
            return loaded(load.state.name, run)
    return None


def came_late(run: Run, spec: SubjectSpec) -> bool:
    """A loop of ours came late by so much that an answer may have come after its read time-out: it can be late once
    each when it accepts a connection, reads a request and answers. The kernel accepts for it meanwhile, so that no
    connect time-out depends on it; every state answers at once or never.
    """
    return run.stalled_ms >= spec.read_timeout_ms / 3


def _stalled(load: Load) -> Loaded:
    reason = "this machine stalled: what it takes to serve so many delayed all else"
    return Loaded(state=load.state.name, at_once=load.at_once, reason=reason)


def loaded(state: str, run: Run) -> Loaded:
    """What the ledger and the callers say of that run."""
    asked = frozenset(run.operations)
    exchanges = {e.exchange for e in run.ledger if isinstance(e, Received) and e.operation in asked}
    return Loaded(
        state=state,
        at_once=len(run.operations),
        operations=len(run.operations),
        attempts=len(exchanges),
        executions=sum(isinstance(e, Executed) and e.exchange in exchanges for e in run.ledger),
        failed=sum(outcome.kind is not Kind.OK for outcome in run.history if outcome.operation in asked),
    )
