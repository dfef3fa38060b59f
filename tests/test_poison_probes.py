"""Probes that are lost beside a request, behind the real Toxiproxy: they are told apart by what was sent."""

from contextlib import suppress
from dataclasses import dataclass

import pytest

from fake_router import sighting
from fake_router.entries import Sighted
from fake_router.kernel import can_watch_packets
from fake_router.thread import RouterThread
from faults.catalogue import POISONS
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Poison, Poisoning
from suites.accounts import accounts_of
from suites.driver import Driver
from suites.findings import Verdict
from suites.judge import judge
from suites.run import Run
from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Address, Got, Link, Seen, dial
from tests.mutants.subject import called
from tests.real_toxiproxy import RealToxiproxy

pytestmark = [
    pytest.mark.toxiproxy,
    pytest.mark.skipif(not can_watch_packets(), reason="packets are seen with CAP_NET_RAW only"),
]
LARGE_PROBE = b"GET /health HTTP/1.1\r\nHost: h\r\nX-Padding: %b\r\n\r\n" % (b"x" * 4_000)
LOSES = next(
    id_
    for id_, fault in POISONS.items()
    if isinstance(fault.act, Poison) and fault.act.strikes_requests and fault.act.toxic is Poisoning.RESET_PEER
)
PLAN = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=LOSES, upstream=0),), upstreams=2)


class Probing(Forwarder):
    """Looks at the health of its router, on a connection of its own, whenever it sends; its probe is the larger one."""

    async def send(self, upstream: Address, body: bytes) -> Got:
        link = await dial(upstream, self.timeout_s)
        assert isinstance(link, Link), "Toxiproxy accepts whatever its upstream does"
        with suppress(OSError):
            await link.send(LARGE_PROBE)
        got = await super().send(upstream, body)
        link.close()
        return got


class Twice(Probing):
    """Sends again to the same upstream, whatever kept the answer away."""

    def may_send_again(self, got: Got) -> bool:
        return got.seen is not Seen.WHOLE

    def move_on(self) -> None:
        """It stays where it is."""


@dataclass(frozen=True)
class Lives:
    """Lives through the plan with a forwarder of that class."""

    real: RealToxiproxy

    def run(self, make: type[Forwarder]) -> Run:
        """On the loop of the server's client."""

        async def live() -> Run:
            with RouterThread() as routers:
                subject = called(make.__name__, make)
                async with Driver(subject=subject, routers=routers, toxiproxy=self.real.server) as driver:
                    return await driver.run(PLAN)

        return self.real.run(live())


@pytest.fixture
def lives(real: RealToxiproxy) -> Lives:
    """Behind the Toxiproxy of this session."""
    return Lives(real)


def sendings(run: Run) -> list[bool]:
    """Of each sending of the operation, whether it was counted."""
    (account,) = accounts_of(run).planned
    return [attempt.exactly_one for attempt in account.attempts]


def test_a_probe_that_is_as_large_as_a_request_is_no_second_sending(lives: Lives) -> None:
    """Both were lost, on two connections that look alike to the router."""
    run = lives.run(Probing)
    assert [entry.probe for entry in run.ledger if isinstance(entry, Sighted)] == [True, False]
    assert sendings(run) == [True]
    assert judge(run).verdict is Verdict.PASS


def test_a_request_that_was_lost_twice_beside_its_probes_was_sent_twice(lives: Lives) -> None:
    """On evidence that proves nothing: a must is broken."""
    run = lives.run(Twice)
    assert sendings(run) == [True, True]
    assert "safe-retry" in {finding.check for finding in judge(run).failures}


@pytest.mark.parametrize("make", [Probing, Twice])
def test_without_packets_nobody_knows_which_of_them_was_a_request(
    lives: Lives, make: type[Forwarder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a pass nor a failure."""

    def refuse(port: int) -> None:
        raise PermissionError(port)

    monkeypatch.setattr(sighting, "RequestWitness", refuse)
    run = lives.run(make)
    assert sendings(run) == [False]
    assert judge(run).verdict is Verdict.UNKNOWN
