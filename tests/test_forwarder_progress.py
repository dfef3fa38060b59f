"""An attempt whose connection was handed over is aborted when its time is over: each at its own, by one timer."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import pytest

from forwarder import Forwarder, MayHaveRunError, Settings
from forwarder.policy import NEVER
from forwarder.progress import Bounds, Progress
from tests.raw_router import OK, RESET, Act, RawRouter

REQUEST = {"prompt": [1]}
LARGE = b'{"prompt":"' + b"x" * 30_000_000 + b'"}'


class Clock:
    """A loop of which only the time passes, and only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        self.timers.append((when, callback))
        return asyncio.TimerHandle(when, callback, (), asyncio.get_running_loop())

    def at(self, now: float) -> None:
        """It is that late, and what was to be called until then is."""
        self.now = now
        due = [timer for timer in self.timers if timer[0] <= now]
        self.timers = [timer for timer in self.timers if timer[0] > now]
        for _, callback in due:
            callback()


class Deadline:
    """Counts what ends it."""

    def __init__(self) -> None:
        self.ends = 0

    def expired(self) -> bool:
        return self.ends > 0

    def reschedule(self, when: float | None) -> None:
        assert when == 0
        self.ends += 1


async def test_each_is_aborted_when_its_own_time_is_over_and_there_is_one_timer() -> None:
    """Three that begin one after the other; of the second an answer begins in time."""
    clock = Clock()
    bounds = Bounds(10.0, cast("asyncio.AbstractEventLoop", clock))
    deadlines = [Deadline() for _ in range(3)]
    attempts = [Progress(cast("asyncio.Timeout", deadline), bounds) for deadline in deadlines]
    seen = []
    for now, attempt in zip((0.0, 1.0, 2.0), attempts, strict=True):
        clock.at(now)
        attempt.hand_over(reused=False)
        assert len(clock.timers) == 1
    attempts[1].got_head()
    for now in (9.0, 10.0, 11.0, 12.0, 30.0):
        clock.at(now)
        seen.append([deadline.ends for deadline in deadlines])
        assert len(clock.timers) <= 1
    assert seen == [[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 1], [1, 0, 1]]
    attempts[1].hand_over(reused=True)
    clock.at(40.0)
    assert deadlines[1].ends == 1, "a timer is set again after there was none"


async def test_what_was_aborted_is_not_aborted_again() -> None:
    """asyncio.Timeout raises RuntimeError for one that has expired: a close must get through to the others."""
    bounds = Bounds(0.0, asyncio.get_running_loop())

    async def attempted() -> None:
        async with asyncio.timeout(None) as deadline:
            attempt = Progress(deadline, bounds)
            attempt.hand_over(reused=False)
            try:
                await asyncio.Event().wait()
            finally:
                assert deadline.expired()
                attempt.abort()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(attempted(), 60)


async def test_a_router_that_does_not_read_ends_the_attempt_after_two_silences() -> None:
    """The request cannot be written, and aiohttp times a router's silence only when it is."""

    async def never_read(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a transport that reads
        try:
            await asyncio.Event().wait()
        finally:
            writer.close()

    server = await asyncio.start_server(never_read, "127.0.0.1", 0, limit=1)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with Forwarder([url], policy=NEVER, settings=Settings(read_timeout_ms=50)) as forwarder:
            with pytest.raises(MayHaveRunError, match="not all of it written, or nothing came, for 100 ms"):
                await forwarder.complete(LARGE)
    finally:
        server.close()


@pytest.mark.parametrize("act", [RESET, OK], ids=["failed", "answered"])
async def test_nothing_is_kept_of_an_attempt_that_is_over(act: Act) -> None:
    """It would be kept for as long as it might have taken: an hour and more, by default."""
    async with RawRouter([act]) as router, Forwarder([router.url], policy=NEVER) as forwarder:
        with suppress(MayHaveRunError):
            await forwarder.complete(REQUEST)
        assert router.requests == 1
        for _ in range(20):
            await asyncio.sleep(0)  # what ended in this turn of the loop is let go of in the next ones
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Progress)]
