"""Whether a loop of ours came late: a machine that stalls turns replies into silences that no fault has made."""

import asyncio
import contextlib
import time
from collections import deque

BEAT_S = 0.02
KEPT = 4_096  # late beats remembered; a healthy loop has none


class Pulse:
    """Beats on the loop that it was made on, and remembers every beat that came late.

    `worst_since` may be called from any thread.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late: deque[tuple[int, float]] = deque(maxlen=KEPT)
        self._handle = self._loop.call_later(BEAT_S, self._beat, time.monotonic())

    def worst_since(self, at_ns: int) -> float:
        """The longest time in ms by which a beat came late since then (machine's monotonic clock, ns)."""
        return max((late_ms for when_ns, late_ms in tuple(self._late) if when_ns >= at_ns), default=0.0)

    @property
    def is_here(self) -> bool:
        """It beats on the loop that asks."""
        return self._loop is asyncio.get_running_loop()

    @property
    def beating(self) -> bool:
        """It has not been stopped."""
        return not self._handle.cancelled()

    def stop(self) -> None:
        """It beats no more. Must be called on its loop."""
        self._handle.cancel()

    def stop_soon(self) -> None:
        """It beats no more as soon as its loop gets to it. May be called from any thread; a loop that is closed has
        ended it.
        """
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.stop)

    def _beat(self, last: float) -> None:
        now = time.monotonic()
        late_ms = (now - last - BEAT_S) * 1000
        if late_ms > BEAT_S * 1000:
            self._late.append((time.monotonic_ns(), late_ms))
        self._handle = self._loop.call_later(BEAT_S, self._beat, now)
