"""Routers on a thread of their own: calls from other threads and loops, and its end."""

import asyncio
import threading

import pytest

from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.vocabulary import Sight
from tests.router_client import HOST, dial, work


async def _there(value: int) -> tuple[int, str]:
    await asyncio.sleep(0)
    return value, threading.current_thread().name


def _fails() -> None:
    raise LookupError("over there")


async def _fails_later() -> None:
    await asyncio.sleep(0)
    raise LookupError("over there, later")


def test_run_runs_functions_and_coroutines_there_and_raises_here() -> None:
    with RouterThread() as thread:
        assert thread.run(lambda: threading.current_thread().name) == "fake-router"
        assert thread.run(_there, 3) == (3, "fake-router")
        with pytest.raises(LookupError, match="over there"):
            thread.run(_fails)
        with pytest.raises(LookupError, match="later"):
            thread.run(_fails_later)


async def test_call_lets_the_caller_go_on_and_raises_here() -> None:
    with RouterThread() as thread:
        gate = threading.Event()
        held = asyncio.ensure_future(thread.call(gate.wait, 10))
        await asyncio.sleep(0)
        gate.set()  # this loop was not blocked by the call
        assert await held is True
        assert await thread.call(_there, value=4) == (4, "fake-router")
        with pytest.raises(LookupError, match="later"):
            await thread.call(_fails_later)


async def test_a_caller_that_is_cancelled_cancels_what_it_waits_for() -> None:
    with RouterThread() as thread:
        begun, cancelled = asyncio.Event(), asyncio.Event()
        home = asyncio.get_running_loop()

        async def waits() -> None:
            home.call_soon_threadsafe(begun.set)
            try:
                await asyncio.Event().wait()
            finally:
                home.call_soon_threadsafe(cancelled.set)

        call = asyncio.ensure_future(thread.call(waits))
        await begun.wait()  # what is cancelled before its first step runs none of it
        call.cancel()
        await cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_many_routers_live_on_one_thread_and_end_with_it() -> None:
    with RouterThread() as thread:
        routers = [await thread.start_router() for _ in range(20)]
        ports = [router.ports[0] for router in routers]
        assert len(set(ports)) == 20
        seen = await asyncio.gather(*(asyncio.to_thread(dial, port, work(1)) for port in ports))
        assert {one.sight for one in seen} == {Sight.WHOLE}
        assert {len(router.ledger) > 0 for router in routers} == {True}
        await thread.close_router(routers[0])
        assert dial(ports[0], work(1)).sight is Sight.REFUSED
    assert {dial(port, work(1)).sight for port in ports} == {Sight.REFUSED}


def test_work_that_waits_when_the_thread_ends_is_cancelled() -> None:
    begun = threading.Event()

    async def waits_for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    def calls() -> None:
        with pytest.raises(asyncio.CancelledError):
            thread.run(waits_for_ever)
        ended.append("cancelled")

    ended: list[str] = []
    with RouterThread() as thread:
        thread.run(thread.start_router)
        caller = threading.Thread(target=calls)
        caller.start()
        begun.wait()
    caller.join()
    assert ended == ["cancelled"]


async def test_a_router_can_live_on_the_callers_own_loop() -> None:
    async with Router(host=HOST) as router:
        seen = await asyncio.to_thread(dial, router.ports[0], work(1))
        assert seen.sight is Sight.WHOLE
        assert await router.wait_idle(10)
