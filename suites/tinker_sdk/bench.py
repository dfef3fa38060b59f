"""Scenarios of the SDK on the subject of a bench, one at a time, for synchronous tests."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

from fake_router.server import Router
from suites.bench import Bench, BrokenMustError, NotRunError
from suites.ending import to_the_end
from suites.endpoint import Endpoint
from suites.futures.gates import Gates
from suites.futures.host import OwnHost
from suites.futures.hosts import host_of, powers_over
from suites.futures.offer import Storage, Store
from suites.futures.theatre import FIRST_MS
from suites.ground import Ground
from suites.printable import printable
from suites.standing import StandingSubject
from suites.tinker_sdk.hop import Hop
from suites.tinker_sdk.judging import INVARIANT, SdkRecord, wrong_in
from suites.tinker_sdk.process import SdkClient, SdkError, SdkProcess, missing
from suites.tinker_sdk.scenarios import Scenario
from suites.tinker_sdk.scene import WITHIN_S, NotHappenedError, Scene
from suites.way import PLAIN, Address


class Transport(StrEnum):
    """What the SDK sends its requests with."""

    PYQWEST = "pyqwest"  # by itself
    HTTPX = "httpx"  # where client/config turns the other off


@dataclass(slots=True, kw_only=True)
class _Stage:
    """A router and a server before it, until `leaving` is closed."""

    router: Router
    host: OwnHost
    leaving: AsyncExitStack


@dataclass(slots=True, kw_only=True)
class SdkBench:
    """One process of the SDK, and one server for each store; a server that is left at work is replaced."""

    bench: Bench
    sdk: SdkProcess
    _stages: dict[Store, _Stage] = field(default_factory=dict)

    @staticmethod
    @contextmanager
    def open(bench: Bench) -> Iterator["SdkBench"]:
        """On the loop of that bench. Raises NotRunError where the SDK is not installed."""
        if reason := missing():
            raise NotRunError(f"not_run: {reason}")
        stack = AsyncExitStack()

        async def start() -> SdkBench:
            await bench.driver.stages.close()  # of a subject that stands, the router is where that of the scenarios is
            opened = SdkBench(bench=bench, sdk=await stack.enter_async_context(SdkProcess.open()))
            stack.push_async_callback(opened._close_all)
            return opened

        try:
            yield asyncio.run_coroutine_threadsafe(start(), bench.loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(stack.aclose(), bench.loop).result()

    def holds(self, scenario: Scenario, transport: Transport) -> SdkRecord:
        """Live through it, and insist that the SDK gets what is right; returns what happened.

        Raises BrokenMustError, and NotRunError where it cannot be lived through here.
        """
        if reason := self._out_of_reach(scenario):
            raise NotRunError(f"not_run: {reason}")
        living = self._lived(scenario, transport)
        record, gap = asyncio.run_coroutine_threadsafe(living, self.bench.loop).result()
        self.bench.of_sdk[scenario.name] += 1
        wrong = wrong_in(record)
        if gap and not wrong:
            raise BrokenMustError(printable(f"{scenario.name!r} on {self.bench.name} proved nothing: {gap}"))
        if wrong:
            lines = [f"  invariant: {INVARIANT}", *(f"  showed: {says}" for says in wrong)]
            where = f"{scenario.name!r} on {self.bench.name}, SDK on {transport}"
            raise BrokenMustError(printable("\n".join([f"FAIL of {where}:", *lines])))
        return record

    def _out_of_reach(self, scenario: Scenario) -> str:
        subject = self.bench.driver.subject
        powers = powers_over(subject)
        if isinstance(subject, StandingSubject) and urlsplit(subject.file.url).scheme == "https":
            return "it is called over TLS, and the SDK is given no CA"
        if scenario.clock and powers.no_clock:
            return powers.no_clock
        if scenario.store is Store.SQLITE and (powers.no_restart or powers.no_sqlite):
            return powers.no_restart or powers.no_sqlite
        if scenario.contract and not self.bench.spec.facts.contract.not_accepted:
            return "its router publishes no answer that means `not accepted`"
        return ""

    async def _lived(self, scenario: Scenario, transport: Transport) -> tuple[SdkRecord, str]:
        """What it left behind, and why it did not come to pass, if it did not."""
        stage = self._stages.get(scenario.store) or await self._open(scenario.store)
        routers, rests = self.bench.driver.routers, False
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._leave, scenario.store, lambda: rests)
            gates = await Gates.fresh(stage.router, routers, self.bench.spec.read_timeout_ms)
            stack.push_async_callback(gates.heal)
            hop = None
            if scenario.through:
                assert self.bench.driver.toxiproxy is not None
                hop = await stack.enter_async_context(
                    Hop.open(self.bench.driver.toxiproxy, stage.host.endpoint.address)
                )
            client = await self._client(stage.host.endpoint, None if hop is None else hop.address, transport)
            stack.callback(self.sdk.close, client)
            numbers = self.bench.driver.numbers
            scene = Scene(host=stage.host, gates=gates, numbers=numbers, sdk=self.sdk, client=client, hop=hop)
            gap = await _played(scenario, scene)
            await scene.over()
            # Of a subject that stands, the router's port is left for whoever comes next: there is only one.
            rests = not gap and not self.bench.spec.standing and await _rests(stage)
            return scene.record(scenario.expects, scenario.strikes), gap

    async def _client(self, endpoint: Endpoint, way_in: Address | None, transport: Transport) -> SdkClient:
        host, port = way_in or endpoint.address
        url = urlunsplit(("http", f"{host}:{port}", endpoint.path, "", ""))
        headers = {name: value for name, value in endpoint.headers.items() if name.lower() != "host"}
        try:
            async with asyncio.timeout(WITHIN_S):
                client = await self.sdk.client(url, httpx=transport is Transport.HTTPX, headers=headers)
        except (SdkError, TimeoutError) as error:
            says = str(error) or f"the SDK opened no session within {WITHIN_S:g} s"
            raise BrokenMustError(printable(f"FAIL on {self.bench.name}, SDK on {transport}: {says}")) from None
        if transport is Transport.PYQWEST and not client.pyqwest:
            self.sdk.close(client)
            raise NotRunError("not_run: its client/config turns pyqwest off")
        return client

    async def _open(self, store: Store) -> _Stage:
        driver = self.bench.driver
        async with AsyncExitStack() as stack:
            ground = await stack.enter_async_context(Ground.open(self.bench.spec, driver.routers, PLAIN, None))
            host = host_of(driver.subject)(Storage(store=store), ground.upstreams)
            stack.push_async_callback(host.close)
            await host.begin(FIRST_MS)
            self._stages[store] = _Stage(router=ground.router, host=host, leaving=stack.pop_all())
        return self._stages[store]

    async def _leave(self, store: Store, rests: Callable[[], bool]) -> None:
        """A server on which a scenario broke off, or left work, is replaced."""
        if not rests():
            await self._close(store)

    async def _close(self, store: Store) -> None:
        await to_the_end(self._stages.pop(store).leaving.aclose())

    async def _close_all(self) -> None:
        for store in tuple(self._stages):
            await self._close(store)


async def _played(scenario: Scenario, scene: Scene) -> str:
    """Why it did not come to pass; empty where it did."""
    try:
        await scenario.play(scene)
    except NotHappenedError as error:
        return str(error)
    return ""


async def _rests(stage: _Stage) -> bool:
    control = stage.host.control
    return control is None or not (await control.settle()).in_flight
