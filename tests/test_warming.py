"""How many sockets health needs is measured beside the runs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from suites.driver import Driver
from suites.findings import Verdict
from suites.judge import judge
from suites.subject import Address, Instance, Isolation
from tests.mutants.forwarder import Forwarder
from tests.mutants.lifecycle import ForgetsConnectionsOfErrors
from tests.mutants.subject import MutantSubject, called

CONCURRENCIES = (1, 3, 2)


@pytest.mark.parametrize(("isolation", "measured"), [(Isolation.SHARED, 1), (Isolation.FRESH, len(CONCURRENCIES))])
async def test_one_that_keeps_nothing_but_its_pool_is_measured_on_one_instance(
    isolation: Isolation, measured: int
) -> None:
    """At every concurrency, with the same verdicts; each start may cost an interpreter."""
    subject = called("mine", Forwarder)
    started: list[Instance] = []

    async def start(upstreams: Sequence[Address]) -> Instance:
        started.append(await subject.start(upstreams))
        return started[-1]

    counted = MutantSubject(spec=replace(subject.spec, isolation=isolation), starting=start)
    with RouterThread() as routers:
        async with Driver(subject=counted, routers=routers) as driver:
            runs = [await driver.run(Plan(operations=(PlannedOperation(),) * n)) for n in CONCURRENCIES]
    assert [judge(run).verdict for run in runs] == [Verdict.PASS] * len(CONCURRENCIES)
    assert len(started) == len(runs) + measured


async def test_what_an_instance_leaked_at_one_concurrency_is_no_yardstick_for_the_next() -> None:
    """Measured on one instance or not, a leak is found."""
    subject = called("leaks", ForgetsConnectionsOfErrors)
    leaky = MutantSubject(spec=replace(subject.spec, isolation=Isolation.SHARED), starting=subject.starting)
    plan = Plan(operations=(PlannedOperation(faults=("500-before",)),) * 2)
    with RouterThread() as routers:
        async with Driver(subject=leaky, routers=routers) as driver:
            await driver.run(Plan(operations=(PlannedOperation(),)))
            run = await driver.run(plan)
    assert "no-leak" in {finding.check for finding in judge(run).failures}
