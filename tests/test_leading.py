"""A shared instance that has moved on to another upstream still meets the faults that wait at its first."""

from dataclasses import replace

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.driver import Driver
from suites.findings import Verdict
from suites.judge import judge
from suites.lanes import run_plans
from suites.leading import waits_at_first
from suites.reference import reference_subject
from suites.run import Run
from suites.subject import Isolation
from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Got
from tests.mutants.subject import called

TIMES = 2


def _plan(fault: str, *, tls: bool = False) -> Plan:
    listener = PlannedListener(fault=fault, upstream=0)
    return Plan(operations=(PlannedOperation(),), listeners=(listener,), upstreams=2, tls=tls)


class _Round(Forwarder):
    """Takes its upstreams in turns."""

    async def forward(self, body: bytes) -> list[Got]:
        """The next operation goes to the next one."""
        try:
            return await super().forward(body)
        finally:
            self.move_on()


@pytest.mark.parametrize(("chooses", "tls"), [(Forwarder, False), (Forwarder, True), (_Round, False)])
async def test_every_run_of_a_shared_instance_meets_its_fault(chooses: type[Forwarder], tls: bool) -> None:
    """Each leaves it before the second upstream; the next is led back first, and nothing of that is in its ledger."""
    sticky = called("sticky", chooses)
    shared = replace(sticky, spec=replace(sticky.spec, isolation=Isolation.SHARED, tls=True))
    runs: dict[int, Run] = {}
    with RouterThread() as routers:
        async with Driver(subject=shared, routers=routers) as driver:
            await run_plans(driver, [_plan("early-503-no-workers", tls=tls)] * TIMES, runs.__setitem__, lanes=1)
    assert [judge(runs[place]).verdict for place in range(TIMES)] == [Verdict.PASS] * TIMES
    assert [run.company for run in runs.values()] == [False, True]


IN_COMPANY = {
    "a reused connection is known as one: the ledger begins when faults are armed": ("unread-reset", True),
    "a name is resolved for each connection: an answer of TTL 0 is not kept": ("name-unknown", False),
}


@pytest.mark.parametrize(("fault", "reused"), IN_COMPANY.values(), ids=IN_COMPANY)
async def test_on_an_instance_that_others_have_used_a_fault_is_met_as_well(fault: str, reused: bool) -> None:
    """The reference keeps no state between its runs but its pool."""
    reference = reference_subject(None, "")
    shared = replace(reference, spec=replace(reference.spec, isolation=Isolation.SHARED))
    plan = Plan(operations=(PlannedOperation(reused=reused),), listeners=(PlannedListener(fault=fault),))
    runs: dict[int, Run] = {}
    with RouterThread() as routers:
        async with Driver(subject=shared, routers=routers) as driver:
            await run_plans(driver, [plan] * TIMES, runs.__setitem__, lanes=1)
    assert [judge(runs[place]).verdict for place in range(TIMES)] == [Verdict.PASS] * TIMES
    assert runs[1].company


def test_only_a_fault_at_the_first_of_several_upstreams_waits_there() -> None:
    """On the only one, on another, and on all of them it is met without being led to."""
    assert waits_at_first(_plan("unread-reset"))
    everywhere = replace(_plan("unread-reset"), listeners=(PlannedListener(fault="unread-reset"),))
    assert not waits_at_first(everywhere)
    assert not waits_at_first(replace(everywhere, upstreams=1))
    assert not waits_at_first(Plan(operations=(PlannedOperation(),), upstreams=2))
