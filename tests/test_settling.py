"""Settling: only what may carry an operation keeps a run from being over."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from fake_router.entries import AnyEntry, EndedBy
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.plan import PlannedOperation
from suites.history import Outcome
from suites.leaving import Leave
from suites.patience import LEAST_NOTICING_MS, NOTICING_MS, Patience
from suites.run import Promise, SubjectFacts
from suites.settling import sendings, settle
from suites.stage import Stage
from suites.subject import Address, SubjectSpec
from tests.ledgers import (
    closed,
    dialled,
    numbered,
    opened,
    probed,
    received,
    rejected,
    served,
    striking,
    struck,
    unserved,
)

CASES: tuple[tuple[str, list[AnyEntry], int], ...] = (
    ("nothing", [], 0),
    ("an exchange", [*served(1, 1)], 1),
    ("an exchange on a new connection", [opened(1), *served(1, 1)], 1),
    ("two on one connection", [*served(1, 1), received(2, connection=1, nth=2)], 2),
    ("an exchange that a fault strikes", [received(1), striking("reset-after", exchange=1, connection=1)], 1),
    ("work that names no operation", [opened(1), *served(1, 1, None)], 0),
    ("a request that was never served", [unserved(1)], 1),
    ("a dial", [dialled(0, 5001, refused=True)], 1),
    ("a faulty listener that is armed", [striking("connect-refused")], 0),
    ("a connection that met its fault", [striking("unread-never", connection=1), struck(1)], 1),
    ("a connection of which nothing is known", [opened(1)], 1),
    ("a connection that brought nothing and is over", [opened(1), closed(1, EndedBy.PEER)], 0),
    ("a probe", [opened(1), probed(1)], 0),
    ("a probe, over", [opened(1), probed(1), closed(1, EndedBy.PEER)], 0),
    ("a probe on a connection from before", [probed(1)], 0),
    ("a probe that met the fault", [opened(1), striking("unread-never", connection=1), probed(1, 0), struck(2)], 0),
    ("a probe on one connection, an exchange on the next", [opened(7), probed(7), opened(1), *served(1, 1)], 1),
    ("a request that could not be understood", [rejected(1)], 0),
    ("an old connection that ends", [closed(1, EndedBy.PEER)], 0),
)


@pytest.mark.parametrize(("entries", "count"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_only_what_may_carry_an_operation_counts(entries: list[AnyEntry], count: int) -> None:
    """Each literal stretch of a ledger holds so many sendings."""
    assert sendings(numbered(entries)) == count


@dataclass
class Prober:
    """A subject that sends no operation, and says nothing of its idleness; its connections are this test's."""

    spec: SubjectSpec = field(
        default_factory=lambda: SubjectSpec(
            facts=SubjectFacts(name="prober", promises=Promise.TRANSPARENT), quiet_ms=100
        )
    )

    async def start(self, upstreams: Sequence[Address]) -> "Prober":
        return self

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        raise AssertionError("nobody calls it")

    async def idle(self) -> bool | None:
        return None

    def died(self) -> str | None:
        return None

    async def stop(self) -> None:
        """It has nothing to stop."""


async def _probe(port: int, data: bytes) -> None:
    """One look on a connection of its own, answered or without a byte."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    if data:
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
    writer.close()
    await writer.wait_closed()


async def _probes_on(port: int, data: bytes, enough: asyncio.Event) -> None:
    while not enough.is_set():
        await _probe(port, data)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(enough.wait(), 0.05)


@pytest.mark.parametrize("data", [b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n", b""], ids=["http", "tcp"])
async def test_a_subject_that_probes_on_new_connections_settles(data: bytes) -> None:
    """Every 50 ms, with a quiet window of twice that."""
    with RouterThread() as routers:
        async with Stage.open(Prober(), routers) as stage:
            await _probe(stage.ports[0], data)
            enough = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(_probes_on(stage.ports[0], data, enough))
                try:
                    settled = await settle(stage, stage.subject.spec)
                finally:
                    enough.set()
            assert settled


async def test_a_subject_that_connects_ahead_once_settles() -> None:
    """Its idle connections stay open, unused."""
    with RouterThread() as routers:
        async with Stage.open(Prober(), routers) as stage:
            _, writer = await asyncio.open_connection("127.0.0.1", stage.ports[0])
            assert await settle(stage, stage.subject.spec)
            assert await stage.on_router(Router.connections) == 1
            writer.close()
            await writer.wait_closed()


async def test_who_never_closes_while_waited_for_is_waited_for_less() -> None:
    """Down to a little, until it has closed once; where nothing is left nobody waits, and nothing is learnt."""
    router, patience = Router(), Patience(ms=3 * LEAST_NOTICING_MS)
    with RouterThread() as routers:
        expected = [NOTICING_MS, LEAST_NOTICING_MS, 3 * LEAST_NOTICING_MS // 2]
        while len(expected) > 1:
            await patience.until_none(router, routers, lambda router: 1)
            await patience.until_none(router, routers, lambda router: 0)
            assert patience.ms == expected.pop()
        left = iter((1, 1, 0))
        await patience.until_none(router, routers, lambda router: next(left))
        assert patience.ms == expected.pop()
