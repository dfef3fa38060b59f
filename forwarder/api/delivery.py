"""One poll: it waits until the result has landed, its caller has left, or it was held long enough; then it answers.

A poll counts as a possible delivery only when every byte of its answer was handed to the kernel for a caller that had
not been seen to leave. What was seen to fail does not count, and the result keeps its long life.
"""

import asyncio
from collections.abc import Callable
from enum import Enum

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from forwarder.api.activity import Activity
from forwarder.api.connection import connection_in
from forwarder.futures.clock import Clock
from forwarder.futures.outcome import Failed, Gone, Pending, Sampled
from forwarder.futures.store import Futures


class NoResult(Enum):
    """How a poll ends without one."""

    HELD = "it was held as long as polls are held"
    LEFT = "its caller has left"


class Polls:
    """Holds polls, each for at most `hold_ms` of this clock."""

    def __init__(self, futures: Futures, clock: Clock, activity: Activity, *, hold_ms: int) -> None:
        self._futures = futures
        self._clock = clock
        self._activity = activity
        self._hold_ms = hold_ms

    async def result(self, request_id: str, receive: Receive) -> Sampled | Failed | Gone | NoResult:
        """What a poll for this id comes to, now or after a wait; it leaves nothing behind."""
        found = self._futures.look(request_id)
        return await self._waited(request_id, receive) if isinstance(found, Pending) else found

    async def _waited(self, request_id: str, receive: Receive) -> Sampled | Failed | Gone | NoResult:
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self._clock.call_at(self._clock.now_ms() + self._hold_ms, lambda: _set(held))
        landed = asyncio.ensure_future(self._futures.landed(request_id))
        leaving = asyncio.ensure_future(left(receive))
        try:
            with self._activity.waiting():
                await asyncio.wait((landed, leaving, held), return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                return NoResult.LEFT
            # Both may have come in one turn of the loop: then there is a result, and the hold is of no interest.
            return landed.result() if landed.done() else NoResult.HELD
        finally:
            timer.cancel()
            landed.cancel()
            leaving.cancel()
            await asyncio.wait((landed, leaving))


def _set(held: asyncio.Future[None]) -> None:
    if not held.done():
        held.set_result(None)


async def left(receive: Receive) -> None:
    """Wait until the caller has left. What else it sends is of no interest."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Departed(Response):
    """The answer to a caller that has left: none."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait until uvicorn knows it too, which takes no answer then."""
        await left(receive)


class Delivery(Response):
    """An answer of which it matters whether the caller can have got it: `ended` is told."""

    def __init__(self, body: bytes, media_type: str, activity: Activity, ended: Callable[[bool], None]) -> None:
        super().__init__(body, media_type=media_type)
        self._activity = activity
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it to a caller that is there."""
        connection = connection_in(scope)
        if connection.left:
            self._ended(False)
            await Departed()(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with self._activity.waiting():
            written = await connection.written()
        self._ended(written)
        if not written:
            connection.abort()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
