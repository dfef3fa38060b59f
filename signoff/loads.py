"""Amplification: what a subject makes of many operations at once while its router is down, slow, or half broken."""

import tomllib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from fake_router.entries import Executed, Received
from faults.plan import Plan, PlannedOperation
from signoff.report import Loaded
from suites.driver import Driver
from suites.history import Kind
from suites.lives import TRIES, stalled
from suites.reach import Machine, unreachable
from suites.run import Run

AT_ONCE = (1, 10, 100, 1_000)
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


def load_plan(state: State, at_once: int, upstreams: int) -> Plan:
    """So many operations in flight together, in that state."""
    broken = PlannedOperation(faults=(state.fault,) * SENDINGS)
    operations = tuple(broken if n % state.every == 0 else PlannedOperation() for n in range(at_once))
    return Plan(operations=operations, upstreams=upstreams, name=f"{state.name}, {at_once} at once")


def load_plans(upstreams: int) -> Sequence[tuple[State, int, Plan]]:
    """Every state with every number of operations."""
    return [(state, n, load_plan(state, n, upstreams)) for state in STATES for n in AT_ONCE]


async def loads_of(driver: Driver, machine: Machine) -> AsyncIterator[Loaded]:
    """One after the other, each on an instance of its own; nothing is judged. Raises SubjectError."""
    spec = driver.subject.spec
    for state, at_once, plan in load_plans(spec.upstreams):
        reason = unreachable(plan, spec, machine)
        if reason is None:
            yield await _lived(driver, plan, state, at_once)
        else:
            yield Loaded(state=state.name, at_once=at_once, reason=reason)


async def _lived(driver: Driver, plan: Plan, state: State, at_once: int) -> Loaded:
    """A run in which this machine stalled says nothing about the subject: it is made again."""
    for _ in range(TRIES if at_once < LARGE else 1):
        run = await driver.run(plan)
        if not stalled(run):
            return loaded(state.name, run)
    reason = f"this machine stalled, by {run.stalled_ms:.0f} ms: what it took to call so many delayed all else"
    return Loaded(state=state.name, at_once=at_once, reason=reason)


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
