"""How runs end: what comes late is judged, a death belongs to a run, and nothing beats on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fake_router.entries import Executed, Received
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from suites.driver import Driver
from suites.judge import judge
from suites.lanes import run_plans
from suites.pulse import Pulse
from suites.reference import reference_subject
from suites.run import Run
from suites.subject import Address, Instance, Isolation, SubjectSpec
from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Got, Link, Seen
from tests.mutants.subject import CalledInstance, Make, called, spec_of

HEALTHY = Plan(operations=(PlannedOperation(),))
FAILING = Plan(operations=(PlannedOperation(faults=("500-after",)),))


async def _run(make: Make, plan: Plan) -> Run:
    with RouterThread() as routers:
        async with Driver(subject=called("any", make), routers=routers) as driver:
            return await driver.run(plan)


def _failed(run: Run) -> set[str]:
    return {finding.check for finding in judge(run).failures}


def _executions(run: Run, operation: int) -> int:
    sent = {entry.exchange for entry in run.ledger if isinstance(entry, Received) and entry.operation == operation}
    return sum(isinstance(entry, Executed) and entry.exchange in sent for entry in run.ledger)


class FlushesWhenStopped(Forwarder):
    """What failed is sent once more when it is stopped; it does not wait for an answer."""

    failed: bytes | None = None

    async def forward(self, body: bytes) -> list[Got]:
        gots = await super().forward(body)
        if self.result(gots) is None:
            self.failed = body
        return gots

    async def close(self) -> None:
        if self.failed is not None:
            link = await self.dial(self.upstreams[0])
            assert isinstance(link, Link)
            head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(self.failed)}\r\n"
            link.sock.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + self.failed)
            link.close()
        await super().close()


async def test_what_a_subject_sends_while_it_is_stopped_is_judged() -> None:
    """Its second execution is in the ledger, though its run was over."""
    run = await _run(FlushesWhenStopped, FAILING)
    assert _executions(run, run.operations[0]) == 2
    assert "at-most-once" in _failed(run)


class SendsTwice(Forwarder):
    """Every operation goes out once more behind its caller."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.behind: list[asyncio.Future[None]] = []

    async def forward(self, body: bytes) -> list[Got]:
        gots = await super().forward(body)
        self.in_flight += 1
        self.behind.append(asyncio.ensure_future(self._again(body)))
        return gots

    async def _again(self, body: bytes) -> None:
        try:
            await asyncio.sleep(0.01)  # that it comes late is the fault
            await self.send(self.upstreams[0], body)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        await asyncio.gather(*self.behind)
        await super().close()


async def test_the_duplicate_of_a_fresh_operation_is_seen() -> None:
    """The subject is idle again before the run ends."""
    run = await _run(SendsTwice, HEALTHY)
    assert [_executions(run, operation) for operation in run.fresh] == [2, 2]


class LosesOneOfTwo(Forwarder):
    """Takes turns, and never again uses an upstream on which something failed."""

    attempts = 1

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.lost: set[Address] = set()

    async def send(self, upstream: Address, body: bytes) -> Got:
        self.move_on()
        if upstream in self.lost:
            return Got(seen=Seen.UNCONNECTED)
        got = await super().send(upstream, body)
        if got.status != 200:
            self.lost.add(upstream)
        return got


async def test_a_pool_that_is_dead_on_one_of_two_upstreams_is_found() -> None:
    """Though the first fresh operation goes to the other one."""
    run = await _run(LosesOneOfTwo, FAILING)
    assert len(run.fresh) == 2
    assert "heals" in _failed(run)


class DiesBehindItsFirstRun(CalledInstance):
    """Asked for its death by its run, and then by the lane, it has died the second time."""

    asked = 0

    def died(self) -> str | None:
        self.asked += 1
        return "exited with code 1" if self.asked > 1 else None


@dataclass(slots=True, kw_only=True)
class Mortal:
    """Its first instance dies between two runs."""

    spec: SubjectSpec = field(default_factory=lambda: replace(spec_of("mortal"), isolation=Isolation.SHARED))
    shared: int = 0

    async def start(self, upstreams: Sequence[Address]) -> Instance:
        self.shared += 1
        forwarder = Forwarder(upstreams, 0.3)
        return DiesBehindItsFirstRun(forwarder) if self.shared == 1 else CalledInstance(forwarder)


async def test_a_death_between_two_runs_belongs_to_the_run_before_it() -> None:
    """It is not lost with the instance that is replaced."""
    found: dict[int, Run] = {}
    with RouterThread() as routers:
        async with Driver(subject=Mortal(), routers=routers) as driver:
            await run_plans(driver, [HEALTHY] * 3, found.__setitem__, lanes=1)
    assert [found[place].died for place in range(3)] == ["exited with code 1", None, None]
    assert "survives" in _failed(found[0])


async def test_the_pulses_of_a_driver_end_with_it() -> None:
    """On each of their loops; those that it was given go on."""
    given = Pulse()
    with RouterThread() as routers:
        subject = reference_subject(None, "test")
        async with Driver(subject=subject, routers=routers, pulses=[given]) as driver:
            await driver.run(HEALTHY)
        async with Driver(subject=subject, routers=routers) as driver:
            await driver.run(HEALTHY)
            assert [pulse.beating for pulse in driver.pulses] == [True] * 3
        await routers.call(lambda: None)
        (await subject.pulse()).stop_soon()  # whatever was asked of that loop before has been done
        await asyncio.sleep(0)
        assert [pulse.beating for pulse in driver.pulses] == [False] * 3
    assert given.beating
    given.stop()
    assert not given.beating
