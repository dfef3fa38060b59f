"""What a subject may hold is measured in good health, and what it has lost of its pool is found however large it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fake_router.entries import Marked, Struck
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.driver import Driver
from suites.judge import judge
from suites.lanes import run_plans
from suites.run import Run
from suites.subject import Address, Instance, Isolation, Subject, SubjectError, SubjectSpec
from suites.warming import INSTANCES
from tests.mutants.forwarder import Forwarder
from tests.mutants.lifecycle import BeginsWithAnOpenBreaker, ForgetsConnectionsOfErrors
from tests.mutants.sending import Got, Link, Seen
from tests.mutants.subject import CalledInstance, Make, MutantSubject, called, spec_of

HEALTHY = PlannedOperation()
FAILING = PlannedOperation(faults=("503-before",))
REUSED = PlannedOperation(faults=("503-before",), reused=True)
FAILED = 500
POOLS = {"reused": (REUSED,), "four-together": (FAILING, HEALTHY, HEALTHY, HEALTHY), "alone": (FAILING,)}


async def _run(subject: Subject, *operations: PlannedOperation) -> Run:
    with RouterThread() as routers:
        async with Driver(subject=subject, routers=routers) as driver:
            return await driver.run(Plan(operations=operations))


def _failed(run: Run) -> set[str]:
    return {finding.check for finding in judge(run).failures}


@pytest.mark.parametrize("operations", POOLS.values(), ids=POOLS)
async def test_one_forgotten_connection_is_a_leak_in_a_pool_of_any_size(
    operations: tuple[PlannedOperation, ...],
) -> None:
    """Also where the pool held more connections than the faulty operation needed."""
    assert _failed(await _run(called("forgets", ForgetsConnectionsOfErrors), *operations)) == {"no-leak"}


class TakesTurns(Forwarder):
    """Every operation goes to the next upstream."""

    async def forward(self, body: bytes) -> list[Got]:
        self.move_on()
        return await super().forward(body)


class ForgetsInTurn(TakesTurns, ForgetsConnectionsOfErrors):
    """And the connection of an error is forgotten."""


@pytest.mark.parametrize("operations", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize(("make", "failed"), [(Forwarder, set()), (TakesTurns, set()), (ForgetsInTurn, {"no-leak"})])
async def test_the_yardstick_fits_those_that_spread_and_those_that_stick(
    make: Make, failed: set[str], operations: tuple[PlannedOperation, ...]
) -> None:
    """Nothing is a leak of a forwarder that is right."""
    assert _failed(await _run(called("any", make), *operations)) == failed


class SendsAgainFromASecondPool(Forwarder):
    """One layer inside another, each with a pool of its own: the outer one sends again what the inner one gave up."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.inner = Forwarder(upstreams, timeout_s)

    async def forward(self, body: bytes) -> list[Got]:
        got = (await self.inner.forward(body))[-1]
        return await super().forward(body) if got.status == FAILED else [got]

    async def close(self) -> None:
        await self.inner.close()
        await super().close()


class ForgetsInBoth(SendsAgainFromASecondPool, ForgetsConnectionsOfErrors):
    """And the outer one forgets the connection of an error."""


TWICE = PlannedOperation(faults=("500-before", "500-before"))


@pytest.mark.parametrize(("make", "failed"), [(SendsAgainFromASecondPool, set()), (ForgetsInBoth, {"no-leak"})])
async def test_a_second_pool_is_no_leak_and_what_grows_in_it_is_one(make: Make, failed: set[str]) -> None:
    """The same happens again on the same instance: what is kept for use is used, what is lost is lost once more."""
    run = await _run(called("layers", make), TWICE)
    assert run.sockets.beyond_health
    assert (max(run.sockets.again) > (run.sockets.healed or 0)) == bool(failed)
    assert _failed(run) - {"safe-retry"} == failed
    assert [entry.mark for entry in run.ledger if isinstance(entry, Marked)].count("armed") == 1


async def test_a_shared_instance_is_looked_into_between_its_runs() -> None:
    """Each run has its own faults alone."""
    subject = called("layers", SendsAgainFromASecondPool)
    shared = MutantSubject(spec=replace(subject.spec, isolation=Isolation.SHARED), starting=subject.starting)
    runs: dict[int, Run] = {}
    with RouterThread() as routers:
        async with Driver(subject=shared, routers=routers) as driver:
            await run_plans(driver, [Plan(operations=(TWICE,)), Plan(operations=(HEALTHY,))], runs.__setitem__, lanes=1)
    assert [run.sockets.again for run in runs.values()] == [(2, 2), ()]
    assert [Counter(type(entry) for entry in run.ledger)[Struck] for run in runs.values()] == [2, 0]


class DialsASpare(Forwarder):
    """Where one upstream has refused, it has two connections to the next."""

    async def dial(self, upstream: Address) -> Link | Seen:
        link = await super().dial(upstream)
        if link is Seen.REFUSED:
            spare = await super().dial(self.upstreams[1])
            assert isinstance(spare, Link)
            self.keep(spare)
        return link

    def keep(self, spare: Link) -> None:
        self.pool.append(spare)


class LosesItsSpare(DialsASpare, ForgetsConnectionsOfErrors):
    """And never uses it."""

    def keep(self, spare: Link) -> None:
        self.forgotten.append(spare)


@pytest.mark.parametrize(("make", "failed"), [(DialsASpare, set()), (LosesItsSpare, {"no-leak"})])
async def test_after_a_fault_of_a_listener_what_can_be_used_is_no_leak(make: Make, failed: set[str]) -> None:
    """To meet it again all connections would have to be ended first: so many operations at once as there are sockets
    need each of them.
    """
    refused = PlannedListener(fault="connect-refused", upstream=0)
    plan = Plan(operations=(HEALTHY,), listeners=(refused,), upstreams=2)
    with RouterThread() as routers:
        async with Driver(subject=called("spare", make), routers=routers) as driver:
            run = await driver.run(plan)
    assert _failed(run) == failed


@dataclass(slots=True, kw_only=True)
class Instances:
    """A subject whose instances are made of these, in turn; the last of them for ever. None cannot be started."""

    makes: Sequence[Make | None]
    spec: SubjectSpec = field(default_factory=lambda: spec_of("in turn"))
    started: Counter[str] = field(default_factory=Counter)

    async def start(self, upstreams: Sequence[Address]) -> Instance:
        make = self.makes[min(self.started.total(), len(self.makes) - 1)]
        self.started[make.__name__ if isinstance(make, type) else "none"] += 1
        if make is None:
            raise SubjectError("not this one")
        return CalledInstance(make(upstreams, 0.3))


async def test_what_a_failed_warm_up_left_open_is_no_yardstick() -> None:
    """A new instance is measured in its place. The run's own instance is the first that is started."""
    subject = Instances(makes=(Forwarder, BeginsWithAnOpenBreaker, Forwarder))
    run = await _run(subject, HEALTHY)
    assert run.sockets.warm == 1
    assert subject.started == {"Forwarder": 2, "BeginsWithAnOpenBreaker": 1}


async def test_without_an_instance_in_good_health_there_is_no_yardstick() -> None:
    """Nothing is known of a leak then; and nobody measures for ever."""
    subject = Instances(makes=(BeginsWithAnOpenBreaker,))
    with RouterThread() as routers:
        async with Driver(subject=subject, routers=routers) as driver:
            runs = [await driver.run(Plan(operations=(HEALTHY,))) for _ in range(INSTANCES + 2)]
    assert {run.sockets.warm for run in runs} == {None}
    assert {finding.check for run in runs for finding in judge(run).unknowns} >= {"no-leak"}
    assert subject.started.total() == len(runs) + INSTANCES * INSTANCES


async def test_a_measurement_that_failed_is_made_again() -> None:
    """An instance that could not be started once does not fail every run after it."""
    subject = Instances(makes=(Forwarder, None, Forwarder))
    with RouterThread() as routers:
        async with Driver(subject=subject, routers=routers) as driver:
            with pytest.raises(SubjectError, match="not this one"):
                await driver.run(Plan(operations=(HEALTHY,)))
            assert (await driver.run(Plan(operations=(HEALTHY,)))).sockets.warm == 1
