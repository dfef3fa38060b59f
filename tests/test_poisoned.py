"""Runs behind the real Toxiproxy: a toxic is set at its moment, strikes, has its witness, and its twin looks alike."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fake_router.entries import Executed, Received, Struck, Witness
from fake_router.thread import RouterThread
from faults.acts import is_listener_act
from faults.catalogue import CATALOGUE, POISONS, fault_named
from faults.fault import Fault
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Moment, Poison
from faults.toxics import Direction, Latency, Slicer
from faults.under import Overlay
from faults.vocabulary import Class
from forwarder.policy import POLICIES
from suites.accounts import accounts_of
from suites.driver import Driver
from suites.findings import Verdict
from suites.judge import judge
from suites.reference import reference_subject
from suites.run import Run
from suites.toxiproxy.server import ToxiproxyServer
from tests.real_toxiproxy import DEADLINE_S, RealToxiproxy

pytestmark = pytest.mark.toxiproxy

POISONED = pytest.mark.parametrize("fault", POISONS.values(), ids=POISONS)


@dataclass(frozen=True)
class Drivers:
    """The reference by policy, behind one Toxiproxy."""

    loop: asyncio.AbstractEventLoop
    by_policy: dict[str, Driver]
    lived: dict[tuple[str, str], Run] = field(default_factory=dict)

    def run(self, plan: Plan, policy: str = "safe") -> Run:
        """The plan, lived through by the reference with that policy."""
        return asyncio.run_coroutine_threadsafe(self.by_policy[policy].run(plan), self.loop).result(DEADLINE_S)

    def poisoned(self, fault: Fault, policy: str = "safe") -> Run:
        """The run of its plan; made once, since what is asked of it asks nothing more of the run."""
        if (fault.id, policy) not in self.lived:
            self.lived[fault.id, policy] = self.run(plan_with(fault), policy)
        return self.lived[fault.id, policy]


@pytest.fixture(scope="module")
def drivers(_server: RealToxiproxy) -> Iterator[Drivers]:
    """On the loop of the server's client."""
    stack = AsyncExitStack()

    async def start(routers: RouterThread) -> dict[str, Driver]:
        subjects = {policy: reference_subject(policy, f"reference:{policy}") for policy in POLICIES}
        return {
            policy: await stack.enter_async_context(Driver(subject=one, routers=routers, toxiproxy=_server.server))
            for policy, one in subjects.items()
        }

    with RouterThread() as routers:
        yield Drivers(_server.loop, asyncio.run_coroutine_threadsafe(start(routers), _server.loop).result(DEADLINE_S))
        asyncio.run_coroutine_threadsafe(stack.aclose(), _server.loop).result(DEADLINE_S)


def plan_with(fault: Fault) -> Plan:
    """The first of two upstreams is poisoned; on a connection that lies idle, every one."""
    assert isinstance(fault.act, Poison)
    idle = fault.act.at is Moment.IDLE
    return Plan(
        name=fault.id,
        upstreams=1 if idle else 2,
        operations=(PlannedOperation(reused=idle),),
        listeners=(PlannedListener(fault=fault.id, upstream=None if idle else 0),),
    )


def executed(run: Run) -> int:
    """How often the plan's operation ran."""
    (account,) = accounts_of(run).planned
    return len(account.executions)


@POISONED
def test_a_toxic_strikes_and_the_reference_passes(drivers: Drivers, fault: Fault) -> None:
    """The request was dropped: no execution; the reply was: one. What proves that nothing ran is sent again."""
    run = drivers.poisoned(fault)
    judgement = judge(run)
    assert judgement.verdict is Verdict.PASS, [finding.says for finding in judgement.findings]
    sent_again = fault.class_under() is Class.SAFE
    assert executed(run) == (1 if sent_again else int(fault.truth.executed))


@POISONED
def test_what_is_sent_again_on_any_evidence_is_caught(drivers: Drivers, fault: Fault) -> None:
    """A forwarder whose policy is to send again whatever has happened breaks a must exactly where nothing is proved."""
    run = drivers.poisoned(fault, "blanket-5xx")
    broken = {finding.check for finding in judge(run).failures}
    assert (broken == set()) is (len(accounts_of(run).planned[0].attempts) == 1 or fault.class_under() is Class.SAFE)


@pytest.mark.parametrize("fault", [one for one in POISONS.values() if one.twin], ids=lambda fault: fault.id)
def test_twins_differ_in_the_ledger_alone(drivers: Drivers, fault: Fault) -> None:
    """What the caller sees is the same, and the truth is the opposite."""
    assert fault.twin is not None
    runs = [drivers.poisoned(one) for one in (fault, fault_named(fault.twin))]
    kinds = [[outcome.kind for outcome in run.history if outcome.operation in run.operations] for run in runs]
    assert kinds[0] == kinds[1]
    assert sorted(map(executed, runs)) == [0, 1]


@POISONED
def test_its_witness_is_toxiproxy_s_count_or_an_end_that_the_router_saw(drivers: Drivers, fault: Fault) -> None:
    """What loses bytes is counted; what ends connections ends one of ours; a refused dial shows on the wire."""
    assert isinstance(fault.act, Poison)
    run = drivers.poisoned(fault)
    expected = Witness.PACKET if fault.act.strikes_dials else Witness.LOST if fault.act.loses_bytes else Witness.ENDED
    assert {entry.witness for entry in run.ledger if isinstance(entry, Struck)} == {expected}


@pytest.mark.parametrize("wrong", [Moment.CONNECT, Moment.BODY])
def test_a_toxic_that_is_not_set_leaves_nothing_proved(
    drivers: Drivers, wrong: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Toxiproxy that says that it did what it did not do: UNKNOWN, never PASS."""
    driver = drivers.by_policy["safe"]
    assert isinstance(driver.toxiproxy, ToxiproxyServer)
    real = driver.toxiproxy.client.lay

    async def lies(proxy: Any, toxic: object) -> object:
        return await real(proxy, Latency(latency_ms=1))

    monkeypatch.setattr(driver.toxiproxy.client, "lay", lies)
    fault = next(
        one
        for one in POISONS.values()
        if isinstance(one.act, Poison) and one.act.at is wrong and one.act.direction is Direction.DOWNSTREAM
    )
    judgement = judge(drivers.run(plan_with(fault)))
    assert judgement.verdict is Verdict.UNKNOWN, [f"{finding.check}: {finding.says}" for finding in judgement.failures]
    assert any(finding.check == "vacuity" for finding in judgement.unknowns)


@pytest.mark.parametrize("direction", Direction)
def test_a_reset_looks_like_an_end_from_behind_it(drivers: Drivers, direction: Direction) -> None:
    """And proves as little: the reference does not send again, and the judge knows what it saw."""
    reset = next(one for one in CATALOGUE.values() if "reset" in str(one.evidence.sight) and one.twin)
    under = (Overlay(toxic=Latency(direction=direction, latency_ms=10, jitter_ms=5)),)
    operation = PlannedOperation(faults=(reset.id,)) if not _on_listener(reset) else PlannedOperation()
    listeners = (PlannedListener(fault=reset.id),) if _on_listener(reset) else ()
    run = drivers.run(Plan(operations=(operation,), listeners=listeners, under=under))
    assert judge(run).verdict is Verdict.PASS
    assert accounts_of(run).view.met(reset.id).evidence != reset.evidence


def _on_listener(fault: Fault) -> bool:
    return is_listener_act(fault.act)


def test_a_request_in_slices_arrives_whole(drivers: Drivers) -> None:
    """Its parser sees each piece by itself; nothing strikes it."""
    under = (Overlay(toxic=Slicer(direction=Direction.UPSTREAM, average_bytes=8)),)
    run = drivers.run(Plan(operations=(PlannedOperation(body_bytes=2_000),), under=under))
    assert judge(run).verdict is Verdict.PASS
    assert sum(isinstance(entry, Received) and entry.operation in run.operations for entry in run.ledger) == 1
    assert sum(isinstance(entry, Executed) for entry in run.ledger) >= 1


def test_the_same_plan_without_toxiproxy_is_refused(drivers: Drivers) -> None:
    """A driver that has none cannot pretend."""
    driver = drivers.by_policy["safe"]
    bare = replace(driver, toxiproxy=None)
    plan = Plan(operations=(PlannedOperation(),), under=(Overlay(toxic=Latency(latency_ms=5)),))
    with pytest.raises(ValueError, match="a way through Toxiproxy without one"):
        asyncio.run_coroutine_threadsafe(bare.run(plan), drivers.loop).result(DEADLINE_S)
