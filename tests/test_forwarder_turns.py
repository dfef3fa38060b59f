"""Connects wait for their turn, and go on without one when those before them never end; connections are probed at times
of their own.
"""

import asyncio
import socket

import pytest

from forwarder import Forwarder, Settings
from forwarder.api.connection import probe
from forwarder.turns import Turns
from tests.raw_router import SILENCE, RawRouter

OPTIONS = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)


async def test_no_more_than_that_many_have_a_turn_at_once_and_all_have_one() -> None:
    """In the order in which they came."""
    turns, going, most, order = Turns(2, longest_s=60.0), 0, 0, []

    async def one(number: int) -> None:
        nonlocal going, most
        async with turns.turn():
            going += 1
            most = max(most, going)
            order.append(number)
            await asyncio.sleep(0)
            going -= 1

    await asyncio.gather(*map(one, range(10)))
    assert (most, order) == (2, list(range(10)))


async def test_who_has_waited_long_enough_goes_on_without_a_turn() -> None:
    """And gives none back, so that there are no more than before."""
    turns, never = Turns(1, longest_s=0.0), asyncio.Event()

    async def holds() -> None:
        async with turns.turn():
            await never.wait()

    holder = asyncio.ensure_future(holds())
    await asyncio.sleep(0)
    for _ in range(3):
        async with turns.turn():
            pass
    never.set()
    await holder
    async with turns.turn():
        assert turns._free.locked()


async def test_a_cancelled_wait_takes_no_turn() -> None:
    """Nor does a turn whose holder was cancelled stay taken."""
    turns, never = Turns(1, longest_s=60.0), asyncio.Event()

    async def holds() -> None:
        async with turns.turn():
            await never.wait()

    both = [asyncio.ensure_future(holds()) for _ in range(2)]
    await asyncio.sleep(0)
    for task in reversed(both):
        task.cancel()
    await asyncio.wait(both)
    async with turns.turn():
        pass


async def test_more_requests_than_turns_all_get_their_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn is given back as soon as there is a connection, not when its answer has come."""
    monkeypatch.setattr("forwarder.connector.CONNECTS", 2)
    async with RawRouter([SILENCE] * 6) as router, Forwarder([router.url], settings=Settings()) as forwarder:
        asked = [asyncio.ensure_future(forwarder.complete({"prompt": [1]})) for _ in range(6)]
        await router.until(6)
        assert router.connections == 6
        await forwarder.close()
        assert len(await asyncio.gather(*asked, return_exceptions=True)) == 6


@pytest.mark.parametrize("nth", [0, 7, 40, 1_000_000])
def test_two_connections_in_a_row_are_probed_at_times_of_their_own(nth: int) -> None:
    """So that a thousand that were made together are not probed together."""
    found = []
    for number in (nth, nth + 1):
        with socket.socket() as connected:
            probe(connected, number)
            assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            found.append([connected.getsockopt(socket.IPPROTO_TCP, option) for option in OPTIONS])
    (idle, interval, count), (next_idle, next_interval, _) = found
    assert idle != next_idle and interval != next_interval  # noqa: PT018 - one claim
    assert 60 <= idle + interval * count <= 140
