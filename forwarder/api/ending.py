"""How a server ends: no new operation, time for those in flight, an outcome for every future, answers for every poller.

Nothing in it waits for ever, and a second signal skips the time for what is in flight.
"""

import asyncio
from collections.abc import Callable

from forwarder.api.background import Forwards
from forwarder.api.patience import GRACE_S
from forwarder.client import Forwarder
from forwarder.futures.errors import JournalError
from forwarder.futures.outcome import Executed, Failed
from forwarder.futures.store import Futures

_LOOK_S = 0.02  # how often it looks whether all has ended


class Ending:
    """Ends the forwards and futures of one server."""

    def __init__(self, forwarder: Forwarder, forwards: Forwards, futures: Futures, *, drain_s: float) -> None:
        self._forwarder = forwarder
        self._forwards = forwards
        self._futures = futures
        self._drain_s = drain_s
        self._deadline: float | None = None
        self._hastened = False

    @property
    def broken(self) -> JournalError | None:
        """Why it ends by itself, at once."""
        return self._futures.broken

    @property
    def begun(self) -> bool:
        """No operation is taken any more."""
        return self._deadline is not None

    @property
    def left_s(self) -> float:
        """How long operations in flight may still go on."""
        if self._hastened or self.broken or self._deadline is None:
            return 0.0
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    def begin(self) -> None:
        """From now on no operation is taken, and those in flight have their time."""
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._drain_s
            self._futures.accept_nothing_more()

    @property
    def hastened(self) -> bool:
        """What was in flight had no more time."""
        return self._hastened

    def hasten(self) -> None:
        """What is in flight has no more time. May be called from a signal handler."""
        self._hastened = True

    async def drain(self) -> None:
        """Wait until every future has its outcome, or the time is up."""
        await self._until(lambda: not len(self._forwards) and not self._futures.counts.in_flight)

    async def finish(self) -> None:
        """Wait for what callers wait for on open requests, within the same time; then give every future an outcome."""
        await self._until(lambda: not self._forwarder.in_flight)
        self._forwards.close()
        # Each forward that is ended so says what is known of it: not executed, may have run, or executed.
        await self._forwarder.close()
        await self._forwards.end(GRACE_S)
        await self._futures.shut_down(_may_have_run)

    async def _until(self, ended: Callable[[], bool]) -> None:
        while not ended() and self.left_s > 0:  # noqa: ASYNC110 - a signal handler, too, changes what is left
            await asyncio.sleep(_LOOK_S)


def _may_have_run(_: str) -> Failed:
    says = "may have run: the server ended before its result came"
    return Failed(says=says, category="server", executed=Executed.UNKNOWN, status=503)
