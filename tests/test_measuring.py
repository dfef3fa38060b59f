"""What is measured beside the cells of a sign-off: when, and that each load is what it says it is."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_router.thread import RouterThread
from faults.coverage import Depth
from faults.plan import Plan, PlannedOperation
from signoff.items import Choice
from signoff.loads import LARGE, _measured, came_late, loaded_with, loads_up_to
from signoff.measuring import measures_of
from signoff.mix import default_mix
from signoff.work import lost_in, plans_of, worked
from suites.crowd import crowded
from suites.driver import Driver
from suites.history import Arrival, Kind, Outcome
from suites.reach import Machine
from suites.reference import ReferenceInstance, ReferenceSubject, reference_subject
from suites.run import Run
from suites.way import Address

SPEC = reference_subject(None, "").spec


@pytest.mark.parametrize(
    ("choice", "largest", "work"),
    [
        (Choice(), 1_000, True),
        (Choice(depth=Depth.CORE), 100, False),
        (Choice(only="wait/*"), 0, False),
        (Choice(toxics=True), 0, False),
    ],
)
def test_what_is_measured_follows_the_choice(choice: Choice, largest: int, work: bool) -> None:
    measures = measures_of(choice, [SPEC], Machine.here(), None)
    assert max((load.at_once for load in measures.loads), default=0) == largest
    assert (measures.mix is not None) == bool(measures.plans) == work


def test_the_seed_draws_the_same_plans_for_every_subject() -> None:
    drawn = [plans_of(default_mix(), [SPEC, SPEC], Machine.here(), seed)[0] for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 200


def test_a_load_counts_what_its_operations_came_to() -> None:
    """Who gives up sends each of them once; every second one is executed and has its result."""
    loads = [load for load in loads_up_to(10) if load.state.name == "half broken"]

    async def measured() -> list[tuple[int, int, int, int]]:
        async with Driver(subject=reference_subject("never", ""), routers=routers) as driver:
            found = await loaded_with(loads, driver, Machine.here())
        return [(one.at_once, one.attempts, one.executions, one.failed) for one in found]

    with RouterThread() as routers:
        assert asyncio.run(measured()) == [(1, 1, 1, 1), (10, 10, 10, 5)]


def test_a_crowd_comes_all_at_once() -> None:
    """A plan whose operations come one after the other is none."""
    plan = Plan(operations=(PlannedOperation(), PlannedOperation(wave=1)))

    async def crowd() -> None:
        async with (
            Driver(subject=reference_subject(None, ""), routers=routers) as driver,
            driver.stages.one() as stage,
        ):
            await crowded(driver, stage, plan)

    with RouterThread() as routers, pytest.raises(ValueError, match="one wave"):
        asyncio.run(crowd())


def test_a_drawn_plan_that_a_cell_has_lived_through_is_not_lived_through_again() -> None:
    """The run that stands for it counts for every draw; a plan that nobody could live through counts for nothing."""
    mix = default_mix()
    plans = [
        Plan(name=name, operations=(PlannedOperation(faults=("reset-after",)),)) for name in ("known", "new", "lost")
    ]
    asked: list[str] = []

    def run_of(plan: Plan) -> Run:
        return Run(plan=plan, subject=SPEC.facts, operations=(1,), ledger=(), history=())

    async def through(rest: object, add: object, lose: object) -> None:
        assert isinstance(rest, list)
        asked.extend(plan.name for plan in rest)
        add(0, run_of(rest[0]))  # type: ignore[operator]
        lose(1, "its worker died")  # type: ignore[operator]

    drawn = [plans[0], plans[1], plans[0], plans[2], plans[1]]
    found = asyncio.run(worked(through, drawn, mix, {}, [run_of(plans[0])]))
    assert asked == ["new", "lost"]
    assert (found.operations, found.runs, found.weight) == (4, 2, 2.0)
    assert found.unmeasured == {"reset-after": "its worker died"}


def test_other_plans_have_another_digest() -> None:
    """Also where the faults of both mixes are called the same, and weigh otherwise."""
    mix = default_mix()

    def drawn_with(seed: int) -> str:
        plans, _ = plans_of(mix, [SPEC], Machine.here(), seed)
        known = [Run(plan=plan, subject=SPEC.facts, operations=(), ledger=(), history=()) for plan in plans]
        return asyncio.run(worked(_nothing, plans, mix, {}, known)).drawn

    assert drawn_with(1) == drawn_with(1) != drawn_with(2)


async def _nothing(*_: object) -> None:
    raise AssertionError("every plan has a run")


def test_a_load_in_which_this_machine_stalled_has_no_numbers() -> None:
    """It is called again, where that may go better."""
    load, late = loads_up_to(1)[0], [True, True, False]

    async def crowd(plan: Plan) -> Run:
        stalled_ms = 200.0 if late.pop(0) else 0.0
        return Run(plan=plan, subject=SPEC.facts, operations=(1,), ledger=(), history=(), stalled_ms=stalled_ms)

    async def measured() -> list[bool]:
        async with Driver(subject=reference_subject(None, ""), routers=routers) as driver:
            found = [await _measured(load, driver, Machine.here(), crowd, tries) for tries in (1, 2)]
        return [one is not None for one in found]

    with RouterThread() as routers:
        assert asyncio.run(measured()) == [False, True]
    assert late == []


def test_what_a_fresh_operation_comes_to_is_no_work_lost() -> None:
    """It follows the plan's own, to see whether the subject still lives."""
    plan = Plan(operations=(PlannedOperation(),))
    history = tuple(Outcome(operation=one, kind=Kind.UNKNOWN, arrival=Arrival.NOTHING) for one in (1, 2))
    assert lost_in(Run(plan=plan, subject=SPEC.facts, operations=(1,), ledger=(), history=history)) == 1


def test_of_a_load_only_what_may_outlast_the_read_timeout_is_not_believed() -> None:
    """A loop of ours that is late three times by a third of it; how long a connect may take is the kernel's affair."""
    run = Run(
        plan=Plan(operations=(PlannedOperation(),)),
        subject=SPEC.facts,
        operations=(1,),
        ledger=(),
        history=(),
        stalled_ms=200.0,
        shortest_timeout_ms=300,
    )
    spec = replace(SPEC, connect_timeout_ms=300)
    believed = [not came_late(run, replace(spec, read_timeout_ms=read_ms)) for read_ms in (300, 600, 601)]
    assert believed == [False, False, True]


def test_who_calls_a_thousand_in_its_own_process_has_longer_timeouts() -> None:
    """Only for the large loads: the others are measured as the cells are."""
    asked: list[tuple[int, int]] = []

    class Watched(ReferenceSubject):
        async def start(self, upstreams: Sequence[Address]) -> ReferenceInstance:
            asked.append((self.spec.connect_timeout_ms, self.spec.read_timeout_ms))
            return await ReferenceSubject.start(self, upstreams)

    ordinary = reference_subject("never", "")
    subject = Watched(policy=ordinary.policy, spec=ordinary.spec)

    async def measured() -> list[int]:
        async with Driver(subject=subject, routers=routers) as driver:
            loads = [load for load in loads_up_to(LARGE) if load.state.name == "down" and load.at_once in (1, LARGE)]
            return [one.at_once for one in await loaded_with(loads, driver, Machine.here())]

    with RouterThread() as routers:
        assert asyncio.run(measured()) == [1, LARGE]
    assert asked == [(300, 300), (1_200, 1_200)]
