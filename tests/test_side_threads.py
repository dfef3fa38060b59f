"""Calls that block, on threads that serve one after the other: none waits for another, and none is left."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from suites import side_thread
from suites.side_thread import SideThreads


class Owns:
    """What each thread has of its own, numbered; `left` is set when one of them has ended."""

    def __init__(self) -> None:
        self.made = 0
        self.left = threading.Event()

    @contextmanager
    def one(self) -> Iterator[int]:
        """The next of them."""
        self.made += 1
        yield self.made
        self.left.set()


async def test_who_is_done_serves_the_next() -> None:
    """With what it had: a client's connections are kept."""
    owns = Owns()
    threads = SideThreads(owns.one)
    assert [await threads.call(lambda own: own) for _ in range(20)] == [1] * 20


async def test_nobody_waits_for_another() -> None:
    """One that hangs has its thread to itself, and what it returns in the end is its own."""
    owns, go = Owns(), threading.Event()
    threads = SideThreads(owns.one)
    hangs = asyncio.ensure_future(threads.call(lambda own: go.wait() and own))
    await asyncio.sleep(0)
    assert await threads.call(lambda own: own) == 2
    assert await threads.call(lambda own: own) == 2
    go.set()
    assert await hangs == 1


async def test_who_is_cancelled_leaves_a_thread_that_serves_on() -> None:
    """What its call returns later reaches nobody."""
    owns, go = Owns(), threading.Event()
    threads = SideThreads(owns.one)
    hangs = asyncio.ensure_future(threads.call(lambda _: go.wait()))
    await asyncio.sleep(0)
    hangs.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hangs
    assert await threads.call(lambda own: own) == 2
    go.set()
    assert await threads.call(lambda own: own) in (1, 2)
    assert owns.made == 2


async def test_what_is_raised_is_raised_to_its_caller_alone() -> None:
    """The thread serves the next."""
    owns = Owns()
    threads = SideThreads(owns.one)
    with pytest.raises(ZeroDivisionError):
        await threads.call(lambda own: own // 0)
    assert await threads.call(lambda own: own) == 1


async def test_whom_nobody_wants_ends_and_another_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it had of its own."""
    monkeypatch.setattr(side_thread, "IDLE_S", 0.01)
    owns = Owns()
    threads = SideThreads(owns.one)
    assert await threads.call(lambda own: own) == 1
    assert await asyncio.to_thread(owns.left.wait, 10)
    assert await threads.call(lambda own: own) == 2


async def test_no_call_is_lost_where_a_thread_is_about_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits no time at all for more: each call finds it at another moment of its ending."""
    monkeypatch.setattr(side_thread, "IDLE_S", 0.0001)
    threads = SideThreads(Owns().one)
    called = [await threads.call(partial(_number, n)) for n in range(2_000)]
    assert called == list(range(2_000))


def _number(number: int, _: int) -> int:
    return number
