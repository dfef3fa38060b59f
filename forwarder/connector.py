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
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from forwarder.turns import Turns

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

CONNECTS = 1024  # under way at a time: a quarter of the usual queue; a busy loop sees few turns a minute


class TellingHandler(ResponseHandler):
    """aiohttp's protocol, which tells a body's reader of bytes that cannot be read."""

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """The connection is of no use any more, and neither is a body whose framing is broken."""
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError(f"Response payload is not completed: {exc!r}"))
        super().set_exception(exc, *cause)


class CleanConnector(aiohttp.TCPConnector):
    """aiohttp's pool, which looks at an idle connection before a request is written to it, and connects in turns: a
    turn is waited for as long as a connect may take.
    """

    def __init__(self, *, connect_timeout_s: float, **options: Any) -> None:
        super().__init__(**options)
        self._connects = Turns(CONNECTS, longest_s=connect_timeout_s)
        self._factory = partial(TellingHandler, loop=self._loop)  # type: ignore[assignment]  # partial is invariant
        self._handed_out: WeakSet[ResponseHandler] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list["Trace"], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A connection that is new, or idle and clean. Raises what aiohttp raises."""
        while self._was_idle(connection := await super().connect(req, traces, timeout)) and _is_soiled(connection):
            connection.close()
        return connection

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list["Trace"], timeout: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        async with self._connects.turn():
            return await super()._create_connection(req, traces, timeout)

    def _was_idle(self, connection: Connection) -> bool:
        protocol = connection.protocol
        if protocol is None or protocol in self._handed_out:
            return True
        self._handed_out.add(protocol)
        return False


def _is_soiled(connection: Connection) -> bool:
    """Bytes, an EOF or an error have come: aiohttp has read them, or they still wait in the kernel."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return True
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(poll.poll(0))
