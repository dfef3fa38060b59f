"""What is made on a Toxiproxy is taken away again, whatever goes wrong; what cannot be reached under it is said."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from fake_router.injector import poison_gate
from faults.catalogue import CATALOGUE, POISONS
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Poison
from faults.toxics import Bandwidth
from faults.under import Overlay
from faults.vocabulary import Content
from retryproof.exits import with_notes
from suites.passage import Passage
from suites.poisoned import Poisoned
from suites.processes import Supervisor
from suites.reach import Machine, unreachable
from suites.reference import reference_subject
from suites.toxiproxy.answers import Proxy
from suites.toxiproxy.client import ToxiproxyClient
from suites.toxiproxy.errors import RefusedError, ToxiproxyError
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import Program, Standing
from suites.toxiproxy.succession import Succession
from suites.way import Address
from tests.mutants.forwarder import Forwarder
from tests.mutants.subject import called
from tests.real_toxiproxy import RealToxiproxy
from tests.toxiproxy_api import PROXY

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

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Failing"]:
        yield self

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


async def test_what_becomes_of_a_proxy_that_nobody_waits_for_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked was cancelled, and then it failed: asyncio would print that to a terminal."""
    said: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: said.append(context["message"]))
    began, go_on = asyncio.Event(), asyncio.Event()

    async def fail(*_: object, **__: object) -> Proxy:
        began.set()
        await go_on.wait()
        raise RefusedError("late")

    client = ToxiproxyClient(("127.0.0.1", 1))
    monkeypatch.setattr(client, "create", fail)
    server = ToxiproxyServer(source=Program(path=Path("/none")), client=client, version="2", log=None)
    adding = asyncio.ensure_future(server.add_proxy(("127.0.0.1", 1)))
    await began.wait()
    adding.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait((adding,))
    assert adding.cancelled()
    await server._leave()
    del adding
    gc.collect()
    assert said == []


@pytest.mark.toxiproxy
@pytest.mark.parametrize("why", [KeyError("why"), None])
def test_what_a_server_that_stands_may_keep_is_said(
    real: RealToxiproxy, monkeypatch: pytest.MonkeyPatch, why: Exception | None
) -> None:
    """Beside the error that ended the work, or in one of its own; by the name of ours."""
    left: list[str] = []

    async def keep(client: ToxiproxyClient, proxy: Proxy) -> None:
        left.append(proxy.name)
        raise RefusedError("something is wrong")

    async def used() -> None:
        source = Standing(url=real.server.client.url)
        async with Supervisor() as supervisor, Succession.open(supervisor, source) as servers:
            for port in (1, 2):
                await servers.now.add_proxy(("127.0.0.1", port))
            monkeypatch.setattr(ToxiproxyClient, "delete", keep)
            if why is not None:
                raise why

    with pytest.raises(KeyError if why else ToxiproxyError) as raised:
        real.run(used())
    monkeypatch.undo()
    says = with_notes(raised.value, str(raised.value))
    (prefix,) = {name[:-1] for name in left}
    assert f"2 of our proxies may be left there: {prefix}*" in says
    for name in left:
        real.run(real.server.client.delete(replace(PROXY, name=name)))


@pytest.mark.parametrize(("rate", "reached"), [(5_000, False), (100_000, True)])
def test_a_huge_reply_on_a_narrow_way_is_not_lived_through(rate: int, reached: bool) -> None:
    """It would take longer than any call is waited for."""
    huge = next(one for one in CATALOGUE.values() if getattr(one.act, "content", None) is Content.HUGE)
    under = (Overlay(toxic=Bandwidth(rate_kbytes_s=rate)),)
    plan = Plan(operations=(PlannedOperation(faults=(huge.id,)),), under=under)
    assert (unreachable(plan, SPEC, BEHIND) is None) is reached
    plain = Plan(operations=(PlannedOperation(),), under=under)
    assert unreachable(plain, SPEC, BEHIND) is None


class HeldAtTheSecond:
    """A stage of two upstreams: an exchange is held on the way to the second, where Toxiproxy refuses the toxic."""

    ports = (1, 2)
    subject = called("any", Forwarder)

    def __init__(self) -> None:
        self.held_at: list[str] = []
        self.refused: list[int] = []
        self.has_refused = asyncio.Event()

    @property
    def passage(self) -> "HeldAtTheSecond":
        return self

    async def on_router(self, act: object) -> None:
        """It has nothing to say."""

    async def held(self, gate: str) -> None:
        self.held_at.append(gate)
        if gate != poison_gate(1):
            await asyncio.Event().wait()

    async def poison(self, place: int, toxic: object) -> None:
        self.refused.append(place)
        self.has_refused.set()
        raise RefusedError(f"no {toxic} there")


async def test_a_toxic_that_was_refused_is_said_though_another_was_still_waited_for() -> None:
    """What ends the waiting is no error; what Toxiproxy refused meanwhile is."""
    held = next(id_ for id_, fault in POISONS.items() if isinstance(fault.act, Poison) and fault.act.holds)
    listeners = (PlannedListener(fault=held),)
    stage: Any = HeldAtTheSecond()
    poisoned = Poisoned(stage, Plan(operations=(PlannedOperation(),), listeners=listeners, upstreams=2))
    await poisoned.begin()
    await stage.has_refused.wait()
    with pytest.raises(RefusedError):
        await poisoned.stop_waiting()
    assert (stage.held_at, stage.refused) == ([poison_gate(0), poison_gate(1)], [1])
    await poisoned.stop_waiting()  # it is said once
