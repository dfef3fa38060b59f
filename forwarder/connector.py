"""A pool that hands out no connection on which something has come that nobody asked for.

aiohttp 3.14 asks only whether an idle connection is still connected. A reply that came on it unasked is parsed and
kept, and given to the next request as its own (RFC 9112 s9.2: it is no response to anything).

Its protocol tells the reader of a body when its framing is broken: aiohttp 3.14 tells only whoever waits for the head,
and behind a chunk size that is no number, in a segment of its own, a body is waited for for ever (measured).

Thousands of connects at once fill the queue of whoever is to accept them (Linux: 4,096), whose kernel then drops SYNs
for ever longer; and the loop is late to see those that were accepted, so that their time is over. Few are under way at
a time: the others wait as they would for a pool slot, before the time-out of their connect begins.

A new connection is handed out as it is: what waits on it may be the session tickets that a TLS 1.3 server sends behind
its handshake (RFC 8446 s4.6.1), and who threw it away for them would dial for ever.
"""

import select
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from forwarder.turns import Turns

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

CONNECTS = 1024  # under way at a time: a quarter of the usual queue; a busy loop sees few turns a minute


class TellingHandler(ResponseHandler):
    """aiohttp's protocol, which tells a body's reader of bytes that cannot be read, and whether something has come that
    nobody asked for. `used`: a request had its connection before.
    """

    used = False
    _readable: "select.poll | None" = None

    def is_soiled(self) -> bool:
        """Bytes, an EOF or an error have come: aiohttp has read them, or they still wait in the kernel."""
        if self.transport is None or self.should_close:
            return True
        if self._readable is None:
            self._readable = select.poll()
            self._readable.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(self._readable.poll(0))

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """The connection is of no use any more, and neither is a body whose framing is broken."""
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError(f"Response payload is not completed: {exc!r}"))
        super().set_exception(exc, *cause)


class CleanConnector(aiohttp.TCPConnector):
    """aiohttp's pool, which looks at an idle connection before a request is written to it, and connects in turns: a
    turn is waited for as long as a connect may take. handed_out: told in the task that now has a connection whether it
    is a reused one.
    """

    def __init__(self, *, connect_timeout_s: float, handed_out: Callable[[bool], None], **options: Any) -> None:
        super().__init__(**options)
        self._handed_out = handed_out
        self._connects = Turns(CONNECTS, longest_s=connect_timeout_s)
        self._factory = partial(TellingHandler, loop=self._loop)  # type: ignore[assignment]  # partial is invariant

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list["Trace"], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A connection that is new, or idle and clean. Raises what aiohttp raises."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            assert isinstance(protocol, TellingHandler)
            if not protocol.used or not protocol.is_soiled():
                self._handed_out(protocol.used)
                protocol.used = True
                return connection
            connection.close()

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list["Trace"], timeout: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        async with self._connects.turn():
            return await super()._create_connection(req, traces, timeout)
