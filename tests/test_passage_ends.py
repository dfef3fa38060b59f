"""What is made on a Toxiproxy is taken away again, whatever goes wrong; what cannot be reached under it is said."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from faults.catalogue import CATALOGUE
from faults.coverage import Depth
from faults.plan import Plan, PlannedOperation
from faults.toxics import Bandwidth, Latency
from faults.under import Overlay
from faults.vocabulary import Content
from suites.draw import drawn_plans
from suites.passage import Passage
from suites.processes import Supervisor
from suites.reach import Machine, unreachable
from suites.reference import reference_subject
from suites.toxiproxy.errors import RefusedError
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import Standing
from suites.way import Address
from tests.real_toxiproxy import RealToxiproxy

SPEC = reference_subject(None, "test").spec
BEHIND = Machine(packets=True, toxiproxy=True)


@dataclass(frozen=True)
class Made:
    """A proxy that is one in name."""

    listen: Address


@dataclass
class Failing:
    """A server that refuses to take its first proxy away."""

    client: Any = None
    removed: list[Made] = field(default_factory=list)

    async def add_proxy(self, upstream: Address, listen: Address | None = None) -> Made:
        return Made(listen or upstream)

    async def remove_proxy(self, proxy: Made) -> None:
        self.removed.append(proxy)
        if len(self.removed) == 1:
            raise RefusedError("no")


WAYS: Sequence[Address] = (("127.0.0.1", 1), ("127.0.0.1", 2), ("127.0.0.1", 3))


async def test_one_proxy_that_stays_keeps_no_other() -> None:
    """All are asked for, and the first refusal is said."""
    server = Failing()
    with pytest.raises(RefusedError):
        async with Passage.open(server, WAYS, ()):
            pass
    assert len(server.removed) == len(WAYS)


async def test_what_ends_a_run_is_said_and_not_what_comes_of_cleaning_up() -> None:
    """An interruption stays one."""
    server = Failing()
    with pytest.raises(KeyError, match="why"):
        async with Passage.open(server, WAYS, ()):
            raise KeyError("why")
    assert len(server.removed) == len(WAYS)


@pytest.mark.toxiproxy
def test_a_proxy_whose_making_was_broken_off_is_taken_away(real: RealToxiproxy) -> None:
    """On a server that is not ours, and goes on."""

    async def broken_off() -> tuple[set[str], set[str]]:
        before = set(await real.server.client.proxies())
        async with (
            Supervisor() as supervisor,
            ToxiproxyServer.open(supervisor, Standing(url=real.server.client.url)) as ours,
        ):
            making = asyncio.ensure_future(ours.add_proxy(("127.0.0.1", 1)))
            await asyncio.sleep(0)
            making.cancel()
            await asyncio.wait((making,))
            assert making.cancelled()
        return before, set(await real.server.client.proxies())

    before, after = real.run(broken_off())
    assert after == before


@pytest.mark.parametrize(("rate", "reached"), [(5_000, False), (100_000, True)])
def test_a_huge_reply_on_a_narrow_way_is_not_lived_through(rate: int, reached: bool) -> None:
    """It would take longer than any call is waited for."""
    huge = next(one for one in CATALOGUE.values() if getattr(one.act, "content", None) is Content.HUGE)
    under = (Overlay(toxic=Bandwidth(rate_kbytes_s=rate)),)
    plan = Plan(operations=(PlannedOperation(faults=(huge.id,)),), under=under)
    assert (unreachable(plan, SPEC, BEHIND) is None) is reached
    plain = Plan(operations=(PlannedOperation(),), under=under)
    assert unreachable(plain, SPEC, BEHIND) is None


def test_every_plan_that_is_drawn_under_a_toxic_can_be_lived_through() -> None:
    """Without one, the plans of a seed are what they were."""
    under = (Overlay(toxic=Latency(latency_ms=20, jitter_ms=10)),)
    drawn = drawn_plans([SPEC], BEHIND, examples=60, seed_number=3, depth=Depth.FULL, under=under)
    assert len(drawn) == 60
    assert all(plan.under == under and unreachable(plan, SPEC, BEHIND) is None for plan in drawn)
    bare = drawn_plans([SPEC], BEHIND, examples=60, seed_number=3)
    assert bare == drawn_plans([SPEC], Machine(packets=True), examples=60, seed_number=3)
