"""A pool that hands out no connection on which something has come that nobody asked for.

aiohttp 3.14 asks only whether an idle connection is still connected. A reply that came on it unasked is parsed and
kept, and given to the next request as its own (RFC 9112 s9.2: it is no response to anything).
"""

import select
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.connector import Connection

if TYPE_CHECKING:
    from aiohttp.tracing import Trace


class CleanConnector(aiohttp.TCPConnector):
    """aiohttp's pool, which looks at a connection before a request is written to it."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list["Trace"], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A connection that is new, or idle and clean. Raises what aiohttp raises."""
        while _is_soiled(connection := await super().connect(req, traces, timeout)):
            connection.close()
        return connection


def _is_soiled(connection: Connection) -> bool:
    """Bytes, an EOF or an error have come: aiohttp has read them, or they still wait in the kernel."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return True
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(poll.poll(0))
