"""A hop between two forwarders counts operations, and a peer sees through it what it would see without."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from faults.vocabulary import Sight
from suites.hop import Hop
from tests.router_client import Stage, dial, one, request, staged, work


@asynccontextmanager
async def hop_to(stage: Stage) -> AsyncIterator[Hop]:
    """Left, its connections are over too."""
    hop = Hop(("127.0.0.1", stage.port))
    await hop.open()
    try:
        yield hop
    finally:
        hop.close()


@pytest.mark.parametrize("fault", ["fin-after", "reset-after", "body-length-fin", "body-length-reset", "503-after"])
async def test_a_peer_sees_a_fault_through_it(fault: str) -> None:
    """The same end, and the same bytes."""
    with staged() as stage:
        async with hop_to(stage) as hop:
            stage.arm(one(fault))
            through = await asyncio.to_thread(dial, hop.port, work(1))
            stage.arm(one(fault), first=2)
            straight = dial(stage.port, work(2))
            assert (through.sight, through.status) == (straight.sight, straight.status)
            assert hop.sendings == {1: 1}


async def test_it_counts_operations_and_no_probes() -> None:
    """However often each comes."""
    with staged() as stage:
        async with hop_to(stage) as hop:
            for data in (work(1), work(2), work(1), request(b"", target="/health", method="GET")):
                assert (await asyncio.to_thread(dial, hop.port, data)).sight is Sight.WHOLE
            assert hop.sendings == {1: 2, 2: 1}


async def test_a_hop_to_nobody_ends_what_comes() -> None:
    """By a reset, since nothing was ever read."""
    with staged() as stage:
        hop = Hop(("127.0.0.1", stage.port))
        await hop.open()
    try:
        assert (await asyncio.to_thread(dial, hop.port, work(1))).sight is Sight.RESET
    finally:
        hop.close()
