"""A run on real sockets: what the driver does with a subject, whatever the subject does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from fake_router.entries import Marked, Received
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.driver import Driver
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from suites.judge import judge
from suites.lanes import run_plans
from suites.leaving import Leave
from suites.reference import reference_subject
from suites.run import Promise, Run, SubjectFacts
from suites.subject import Address, Isolation, SubjectError, SubjectSpec
from suites.warming import INSTANCES

HEALTHY = Plan(operations=(PlannedOperation(),))


@pytest.fixture
async def driver() -> AsyncIterator[Driver]:
    """The reference, on routers of this test's own."""
    with RouterThread() as routers:
        async with Driver(subject=reference_subject(None, "test"), routers=routers) as driver:
            yield driver


async def test_a_run_holds_the_operation_the_fresh_ones_and_its_marks(driver: Driver) -> None:
    """Armed, settled, healed, a fresh operation for each upstream after that, and a last look when all has ended."""
    run = await driver.run(HEALTHY)
    assert [outcome.operation for outcome in run.history] == [*run.operations, *run.fresh]
    marks = [entry.mark for entry in run.ledger if isinstance(entry, Marked)]
    assert marks == ["armed", "settled", "healed", "settled", "settled"]
    assert judge(run).verdict is Verdict.PASS


async def test_reused_connections_are_really_reused(driver: Driver) -> None:
    """The warm-up is on the same instance, and its operations are told apart from the plan's."""
    run = await driver.run(Plan(operations=(PlannedOperation(reused=True), PlannedOperation(reused=True))))
    mine = [entry for entry in run.ledger if isinstance(entry, Received) and entry.operation in run.operations]
    assert all(entry.nth > 1 for entry in mine)
    assert set(run.warmups).isdisjoint({*run.operations, *run.fresh})


async def test_operation_numbers_are_never_used_twice(driver: Driver) -> None:
    """Not by runs side by side either."""
    runs = await asyncio.gather(*(driver.run(HEALTHY) for _ in range(8)))
    numbers = [number for run in runs for number in (*run.operations, *run.warmups, *run.fresh)]
    assert len(numbers) == len(set(numbers))


async def test_gates_hold_the_order_of_operations(driver: Driver) -> None:
    """The first is answered only after the second was received, however they were sent."""
    plan = Plan(operations=(PlannedOperation(gate="received:1"), PlannedOperation()))
    run = await driver.run(plan)
    assert [outcome.kind for outcome in run.history] == [Kind.OK] * 4
    assert any(isinstance(entry, Marked) and entry.mark == "gate received:1" for entry in run.ledger)


async def test_every_plan_of_many_comes_back_to_its_place(driver: Driver) -> None:
    """Lanes may finish in any order."""
    plans = [Plan(name=str(n), operations=(PlannedOperation(faults=("500-before",) * (n % 2)),)) for n in range(20)]
    found: dict[int, Run] = {}
    await run_plans(driver, plans, found.__setitem__)
    assert [found[n].plan.name for n in range(20)] == [str(n) for n in range(20)]


@dataclass
class Mute:
    """A subject that sends nothing, and never answers."""

    spec: SubjectSpec = field(
        default_factory=lambda: SubjectSpec(facts=SubjectFacts(name="mute", promises=Promise.TRANSPARENT))
    )
    stopped: int = 0

    async def start(self, upstreams: Sequence[Address]) -> "Mute":
        return self

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        return Outcome(operation=number, kind=Kind.UNKNOWN, arrival=Arrival.HUNG)

    async def idle(self) -> bool | None:
        return True

    def died(self) -> str | None:
        return None

    async def stop(self) -> None:
        self.stopped += 1


async def test_a_subject_that_never_sends_is_not_judged() -> None:
    """It is asked once more in good health; and each of its instances is stopped."""
    mute = Mute()
    with RouterThread() as routers:
        async with Driver(subject=mute, routers=routers) as driver:
            with pytest.raises(SubjectError, match="did not reach its router"):
                await driver.run(HEALTHY)
    assert mute.stopped == 1 + INSTANCES + 1  # the run's, those of which none was in good health, and that one


async def test_whoever_has_reached_its_router_is_not_asked_again(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in which nothing came is then the doing of its fault: no instance is started to find that out."""
    await driver.run(HEALTHY)
    monkeypatch.setattr(driver.stages, "_opened", None)
    await driver.stages.require_reaching()


@dataclass
class Broken(Mute):
    """A subject that cannot be started."""

    async def start(self, upstreams: Sequence[Address]) -> "Mute":
        raise SubjectError("no such thing")


@pytest.mark.parametrize("isolation", Isolation)
async def test_a_subject_that_cannot_start_ends_all_lanes_with_one_error(isolation: Isolation) -> None:
    """Not with a group of sixteen."""
    facts = SubjectFacts(name="broken", promises=Promise.TRANSPARENT)
    broken = Broken(spec=SubjectSpec(facts=facts, isolation=isolation))
    with RouterThread() as routers:
        async with Driver(subject=broken, routers=routers) as driver:
            with pytest.raises(SubjectError, match="no such thing"):
                await run_plans(driver, [HEALTHY] * 20, lambda place, run: None)


async def test_a_listener_is_healthy_again_after_the_run(driver: Driver) -> None:
    """The fresh operation reaches an upstream that refused before."""
    run = await driver.run(
        Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="connect-refused"),))
    )
    assert [outcome.kind for outcome in run.history] == [Kind.FAILED, Kind.OK, Kind.OK]
    assert judge(run).verdict is Verdict.PASS
