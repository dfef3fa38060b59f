"""POST /test/settle and /test/advance: a test moves the clock of holds and lifetimes, and knows when that is done.

Served with --test-clock alone, and on the loopback alone. The clock moves only when the server rests.
"""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from forwarder.api.answers import RefusedError, answer
from forwarder.api.incoming import fields_of
from forwarder.api.quiescence import at_rest
from forwarder.api.service import Service
from forwarder.futures.clock import ManualClock


class AdvanceBody(msgspec.Struct):
    """By how much."""

    ms: int


class ClockApi:
    """Moves this clock of this server; one request at a time."""

    def __init__(self, service: Service, clock: ManualClock) -> None:
        self._service = service
        self._clock = clock
        self._moving = asyncio.Lock()

    async def settle(self, _: Request) -> Response:
        """Answers when the server rests."""
        await at_rest(self._service.activity)
        return self._state()

    async def advance(self, request: Request) -> Response:
        """Moves the clock from timer to timer, and lets the server rest after each."""
        by_ms = fields_of(await request.body(), AdvanceBody).ms
        if by_ms < 0:
            raise RefusedError(422, "invalid", f"ms is {by_ms}; expected 0 or more: time does not go back")
        activity = self._service.activity
        async with self._moving:
            await at_rest(activity)
            until_ms = self._clock.now_ms() + by_ms
            while self._clock.step(until_ms):
                activity.step()
                await at_rest(activity)
            return self._state()

    def _state(self) -> Response:
        futures = self._service.futures
        counts = futures.counts
        return answer(
            {
                "now_ms": self._clock.now_ms(),
                "waiting": futures.waiting(),
                "in_flight": counts.in_flight,
                "undelivered": counts.undelivered,
                "delivered": counts.delivered,
                "evicted": counts.evicted,
                "expired": counts.expired,
                "stored_bytes": counts.stored_bytes,
            }
        )
