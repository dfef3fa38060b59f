"""Time as the futures know it: milliseconds of the wall clock, since their times must outlive a restart."""

import asyncio
import heapq
import time
from collections.abc import Callable
from typing import Protocol

Act = Callable[[], None]


class Timer:
    """One act at one time. Whoever set it may cancel it, also when it has run."""

    __slots__ = ("_act", "_bucket", "due_ms")

    def __init__(self, due_ms: int, act: Act, bucket: "dict[Timer, None] | None" = None) -> None:
        self.due_ms = due_ms
        self._act: Act | None = act
        self._bucket = bucket

    @property
    def is_set(self) -> bool:
        """It has neither run nor been cancelled."""
        return self._act is not None

    def cancel(self) -> None:
        """It never runs, and nothing holds it any more."""
        self._act = None
        if self._bucket is not None:
            self._bucket.pop(self, None)

    def run(self) -> None:
        """Do it, unless it was done or cancelled."""
        act, self._act = self._act, None
        if act is not None:
            act()


class Clock(Protocol):
    """What tells the time and keeps appointments."""

    def now_ms(self) -> int:
        """Milliseconds since 1970. It never goes back while the process lives."""
        ...

    def call_at(self, due_ms: int, act: Act) -> Timer:
        """Run the act once, not before that time. What is due already runs at the next turn of the loop."""
        ...


class ManualClock:
    """Time that moves only when it is told to. Timers run in the order of (due, set), each at its own time."""

    def __init__(self, start_ms: int = 0) -> None:
        self._now_ms = start_ms
        self._timers: list[tuple[int, int, Timer]] = []
        self._set = 0

    def now_ms(self) -> int:
        """The time to which it was moved."""
        return self._now_ms

    def call_at(self, due_ms: int, act: Act) -> Timer:
        """It runs when the clock is moved; one that is due already, too."""
        timer = Timer(due_ms, act)
        self._set += 1
        heapq.heappush(self._timers, (due_ms, self._set, timer))
        return timer

    def step(self, until_ms: int) -> bool:
        """Move to the first timer that is due by then and run it; False: none is, and it is that time now.

        Raises ValueError for a time that has passed.
        """
        if until_ms < self._now_ms:
            raise ValueError(f"until_ms is {until_ms!r}; expected {self._now_ms} or later: time does not go back")
        while self._timers and self._timers[0][0] <= until_ms:
            due_ms, _, timer = heapq.heappop(self._timers)
            if timer.is_set:
                self._now_ms = max(self._now_ms, due_ms)
                timer.run()
                return True
        self._now_ms = until_ms
        return False

    def advance(self, by_ms: int) -> None:
        """Move on by that much, and run what falls due on the way."""
        until_ms = self._now_ms + by_ms
        while self.step(until_ms):
            pass


class SystemClock:
    """The machine's time, read once and carried on by the monotonic clock, so that no correction moves it back.

    Timers are kept in one bucket for each tick, and the loop has one timer in all: many thousand polls that each wait
    for minutes, and mostly end early, cost it nothing. A timer runs up to a tick late. It belongs to the running loop.
    """

    def __init__(self, tick_ms: int = 20) -> None:
        self._tick_ms = tick_ms
        self._offset_ms = int(time.time() * 1000) - time.monotonic_ns() // 1_000_000
        self._loop = asyncio.get_running_loop()
        self._buckets: dict[int, dict[Timer, None]] = {}
        self._ticks: list[int] = []
        self._handle: asyncio.TimerHandle | None = None

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.monotonic_ns() // 1_000_000 + self._offset_ms

    def call_at(self, due_ms: int, act: Act) -> Timer:
        """It runs on the loop, up to a tick late."""
        tick = -(-due_ms // self._tick_ms)
        bucket = self._buckets.get(tick)
        if bucket is None:
            bucket = self._buckets[tick] = {}
            heapq.heappush(self._ticks, tick)
            if self._ticks[0] == tick:
                self._wait()
        timer = Timer(due_ms, act, bucket)
        bucket[timer] = None
        return timer

    def _wait(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._ticks:
            delay_ms = max(0, self._ticks[0] * self._tick_ms - self.now_ms())
            self._handle = self._loop.call_later(delay_ms / 1000, self._run)

    def _run(self) -> None:
        now_tick = self.now_ms() // self._tick_ms
        due: list[Timer] = []
        while self._ticks and self._ticks[0] <= now_tick:
            due += self._buckets.pop(heapq.heappop(self._ticks))
        self._wait()
        for timer in due:
            timer.run()
