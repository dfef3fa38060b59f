"""How far one attempt has come, and when it has to be over."""

import asyncio


class Progress:
    """How far one attempt has come. `deadline` ends it; `bounds` say when, once its bytes may be on the wire."""

    __slots__ = ("_bounds", "_deadline", "handed_over", "reused")

    def __init__(self, deadline: asyncio.Timeout, bounds: "Bounds") -> None:
        self._deadline = deadline
        self._bounds = bounds
        self.handed_over = False
        self.reused = False

    def hand_over(self, *, reused: bool) -> None:
        """A connection now belongs to the request: from here on its bytes may be on the wire.

        aiohttp begins to time the router's silence only when the request is written. A router that does not read
        a large one would hold it forever, so the writing is bounded too: it may take as long as a silence.
        """
        self.handed_over = True
        self.reused = reused
        self._bounds.begin(self)

    def got_head(self) -> None:
        """The answer has begun: aiohttp's own timer of silence does the rest. Or there is none, and it has failed."""
        self._bounds.end(self)

    def abort(self) -> None:
        """End the attempt on the next turn of the loop, whatever it waits for."""
        self._bounds.end(self)
        if not self._deadline.expired():
            self._deadline.reschedule(0)


class Bounds:
    """Aborts each attempt that has taken longer than `longest_s` since it began. As all may take as long, the first to
    begin is the first to be over, and one timer does for all: two a request are 4 % of its CPU (measured).
    """

    def __init__(self, longest_s: float, loop: asyncio.AbstractEventLoop) -> None:
        self._longest_s = longest_s
        self._loop = loop
        self._over_at: dict[Progress, float] = {}  # in that order
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, attempt: Progress) -> None:
        """Its time runs from now on."""
        self._over_at[attempt] = at = self._loop.time() + self._longest_s
        if self._timer is None:
            self._timer = self._loop.call_at(at, self._look)

    def end(self, attempt: Progress) -> None:
        """It may take as long as it likes."""
        self._over_at.pop(attempt, None)

    def close(self) -> None:
        """Nothing is aborted any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer, now = None, self._loop.time()
        over = [attempt for attempt, at in self._over_at.items() if at <= now]
        for attempt in over:
            attempt.abort()
        for at in self._over_at.values():
            self._timer = self._loop.call_at(at, self._look)
            break
