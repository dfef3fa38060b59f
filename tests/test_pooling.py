"""An operation that waits for a connection of the forwarder's own pool has not left it, and a witness says so."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fake_router.entries import Opened, Received, Striking, Struck, Witness
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.driver import Driver
from suites.findings import Verdict
from suites.history import Kind
from suites.judge import judge
from suites.reach import Machine, unreachable
from suites.reference import reference_subject
from suites.run import Run
from suites.subject import Subject
from suites.way import Way, way_of
from tests.mutants.forwarder import Forwarder
from tests.mutants.subject import called

PLAN = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="pool-wait"),))


@pytest.fixture
def routers() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


async def _lived(routers: RouterThread, *, limited: bool) -> Run:
    subject: Subject = reference_subject(None, "test")
    if not limited:
        unlimited = called("unlimited", Forwarder)
        subject = replace(unlimited, spec=replace(unlimited.spec, pool=True))
    async with Driver(subject=subject, routers=routers) as driver:
        return await driver.run(PLAN)


async def test_an_operation_waits_until_the_other_has_its_answer(routers: RouterThread) -> None:
    """It is received after the strike was closed, on the same connection, and succeeds."""
    run = await _lived(routers, limited=True)
    judgement = judge(run)
    assert judgement.verdict is Verdict.PASS, judgement.findings
    striking = [entry for entry in run.ledger if isinstance(entry, Striking)]
    struck = [entry for entry in run.ledger if isinstance(entry, Struck)]
    mine = run.operations[0]
    (received,) = [entry for entry in run.ledger if isinstance(entry, Received) and entry.operation == mine]
    assert [entry.striking for entry in struck] == [entry.seq for entry in striking]  # one for each upstream
    assert {entry.witness for entry in struck} == {Witness.HELD}
    assert striking[-1].seq < struck[0].seq < struck[-1].seq < received.seq
    assert received.nth == 2
    assert run.history[0].kind is Kind.OK


async def test_a_pool_without_the_limit_meets_no_strike_and_proves_nothing(routers: RouterThread) -> None:
    """It opened a connection of its own, and was served at once."""
    run = await _lived(routers, limited=False)
    judgement = judge(run)
    assert judgement.verdict is Verdict.UNKNOWN
    assert [finding.check for finding in judgement.unknowns] == ["vacuity"]
    assert any(isinstance(entry, Opened) for entry in run.ledger)


def test_only_a_plan_that_holds_the_pool_limits_it() -> None:
    """And a subject that cannot be told of the limit does not reach it."""
    assert way_of(PLAN) == Way(max_connections=1)
    assert way_of(Plan(operations=(PlannedOperation(),))) == Way()
    reason = unreachable(PLAN, called("any", Forwarder).spec, Machine(packets=True))
    assert reason is not None
    assert "{max_connections}" in reason
