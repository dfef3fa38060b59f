"""What is tried out on a subject that keeps nothing between its runs is tried out on few instances."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.driver import Driver
from suites.findings import Verdict
from suites.in_turns import in_turns
from suites.judge import judge
from suites.run import Run
from suites.subject import Instance, Isolation
from suites.together import together
from suites.way import Address
from tests.mutants.forwarder import Forwarder
from tests.mutants.lifecycle import ClosesItsPoolForGood
from tests.mutants.subject import Make, MutantSubject, called

HEALTHY = Plan(operations=(PlannedOperation(),))
RESET = Plan(operations=(PlannedOperation(faults=("reset-after",)),))


@dataclass(kw_only=True)
class Counted:
    """A subject, and all of its instances."""

    subject: MutantSubject
    started: list[Instance] = field(default_factory=list)


def counted(make: Make, isolation: Isolation = Isolation.SHARED) -> Counted:
    """One that counts them."""
    subject = called("mine", make)
    counts = Counted(subject=subject)

    async def start(upstreams: Sequence[Address]) -> Instance:
        counts.started.append(await subject.start(upstreams))
        return counts.started[-1]

    counts.subject = MutantSubject(spec=replace(subject.spec, isolation=isolation), starting=start)
    return counts


@pytest.fixture(scope="module")
def routers() -> Iterator[RouterThread]:
    """Where they forward to."""
    with RouterThread() as routers:
        yield routers


async def lived(counts: Counted, routers: RouterThread, plans: Sequence[Plan]) -> tuple[list[Run], int]:
    """The runs of these plans, one after the other; and on how many instances, but those that are measured beside."""
    async with Driver(subject=counts.subject, routers=routers) as driver, in_turns(driver) as lives:
        await driver.run(HEALTHY)  # what health needs is known from here on
        before = len(counts.started)
        return [await lives.run(plan) for plan in plans], len(counts.started) - before


async def test_one_run_after_the_other_needs_one_instance(routers: RouterThread) -> None:
    """Each meets its own faults alone, and has its own ledger."""
    there = replace(HEALTHY, listeners=(PlannedListener(fault="unread-reset"),))
    runs, instances = await lived(counted(Forwarder), routers, [RESET, there, HEALTHY])
    assert instances == 1
    assert [judge(run).verdict for run in runs] == [Verdict.PASS] * 3
    assert [run.company for run in runs] == [False, True, True]
    assert [len(run.operations) for run in runs] == [1, 1, 1]


async def test_one_in_bad_health_is_not_used_again(routers: RouterThread) -> None:
    """What it did would be told of the wrong plan."""
    runs, instances = await lived(counted(ClosesItsPoolForGood), routers, [RESET, HEALTHY])
    assert instances == 2
    assert [judge(run).verdict for run in runs] == [Verdict.FAIL, Verdict.PASS]


async def test_who_keeps_something_has_a_fresh_one_for_each(routers: RouterThread) -> None:
    """As without turns."""
    runs, instances = await lived(counted(Forwarder, Isolation.FRESH), routers, [HEALTHY, HEALTHY])
    assert (instances, [run.company for run in runs]) == (2, [False, False])


async def test_two_at_once_have_one_each(routers: RouterThread) -> None:
    """Nobody has company."""
    counts = counted(Forwarder)
    async with Driver(subject=counts.subject, routers=routers) as driver, in_turns(driver) as lives:
        await driver.run(HEALTHY)
        before = len(counts.started)
        await together((lives.run(HEALTHY), lives.run(RESET)))
        assert len(counts.started) - before == 2
