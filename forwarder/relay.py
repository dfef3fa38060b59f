"""A stream on its way to the caller: each event is passed on as it comes, and no faster than the caller takes it.

Before its first event a failure is an ordinary answer. After it nothing can be taken back: the stream then ends with
an error event, without `[DONE]`, and short of its last chunk (RFC 9112 s8), so that nobody takes it for whole. A
caller that leaves ends the attempt, since nobody else could hold what is still to come.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from forwarder.errors import ForwardError, RequestError
from forwarder.stream import StreamEvent
from forwarder.validate import STREAM_TYPE

_log = logging.getLogger("forwarder.stream")


class Relay(Response):
    """An ASGI response that takes its events from the forwarder. `failed` makes the answer to an error."""

    def __init__(
        self, events: AsyncGenerator[StreamEvent, None], failed: Callable[[ForwardError | RequestError], Response]
    ) -> None:
        super().__init__(media_type=STREAM_TYPE, headers={"Cache-Control": "no-store"})
        del self.headers["Content-Length"]
        self._events = events
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on all events, or as many as the caller stays for."""
        sending = asyncio.ensure_future(self._send(scope, receive, send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.wait((sending, leaving))
        if not sending.cancelled():
            sending.result()

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._events) as events:
            try:
                first = await anext(events)
            except (ForwardError, RequestError) as error:
                await self._failed(error)(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                await _pass_on(first, send)
                async for event in events:
                    await _pass_on(event, send)
            except ForwardError as error:
                _log.warning("a stream was cut: %s", error.says)
                await send({"type": "http.response.body", "body": _error_event(self._failed(error)), "more_body": True})
                return  # without the end of the body: uvicorn closes the connection
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _pass_on(event: StreamEvent, send: Send) -> None:
    await send({"type": "http.response.body", "body": event.raw, "more_body": True})


async def _left(receive: Receive) -> None:
    """The caller has left. What else it sends is of no interest."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _error_event(failed: Response) -> bytes:
    return b"data: " + bytes(failed.body) + b"\n\n"
