"""One caller's connection: uvicorn's, and beside it what decides whether its caller can have got an answer.

uvicorn tells of a caller that has left through `http.disconnect`, with three gaps that are closed here: it tells the
latest of several pipelined requests alone; only after its loop has read the end that lies in the kernel already; and
after a half-close only once everything that was written has been taken, which may be never. Heads that are too long, or
do not come, have an end here too.
"""

import asyncio
import itertools
import socket
from typing import cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from forwarder.api.activity import Activity

_EXTENSION = "forwarder.connection"
_ESTABLISHED = 1  # tcp_info.tcpi_state; a FIN makes it CLOSE_WAIT, a reset CLOSE
MOST_HEAD_BYTES = 64 * 1024  # and what came in one read with the last of them
# A peer that vanished without FIN is given up after 62 to 138 s without an ACK. No two connections in a row are
# probed at the same time: those that were made together would be, again and again, and the receiving queue of loopback
# and of veth holds 1,000 packets (net.core.netdev_max_backlog). What it dropped three times ended live callers.
_SILENT_S, _PROBE_S, _PROBES = range(20, 61), range(7, 14), 6

_COUNTER = itertools.count()


class Connection(HttpToolsProtocol):
    """uvicorn's protocol over httptools; `activity` is set by `connections_of`."""

    activity: Activity

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A caller has connected."""
        self.activity.step()
        self._unanswered: list[RequestResponseCycle] = []
        self._ended = False
        self._in_head = False
        self._probed = False
        self._head_bytes = 0
        self._head_late = self.loop.call_later(self.timeout_keep_alive, transport.close)
        self._socket = cast(socket.socket, transport.get_extra_info("socket"))
        # With no room in its buffer a write is tried at once, and is paused as long as the kernel has not taken it all.
        transport.set_write_buffer_limits(0)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended: every request on it that has no answer yet learns of it, pipelined ones too."""
        self.activity.step()
        self._head_late.cancel()
        super().connection_lost(exc)
        self._tell_all()
        self._unset_keepalive_if_required()
        self._let_go()

    def _let_go(self) -> None:
        """Whoever still works for its caller has what it needs; in a circle with it, this connection (10 KB of memory)
        would stay until the collector of cycles comes, which it seldom does (`collecting.py`).
        """
        self._unanswered = []
        self.pipeline.clear()
        self.cycle = self.scope = None  # type: ignore[assignment]

    def eof_received(self) -> None:
        """The caller sends nothing more, and is taken for gone: the transport is closed when this returns."""
        self.activity.step()
        super().eof_received()
        self._tell_all()
        self.flow.resume_writing()

    def _tell_all(self) -> None:
        self._ended = True
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Bytes of requests have come. Whose head has no end is sent away (RFC 9110 s5.4)."""
        self.activity.step()
        super().data_received(data)
        if not self._in_head:
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"A head of more than {MOST_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head = True
        self._head_bytes = 0
        self._head_late.cancel()
        self._head_late = self.loop.call_later(self.timeout_keep_alive, self.transport.close)
        if not self._probed:  # before its first request its head is waited for, and no longer than that
            self._probed = True
            probe(self._socket, next(_COUNTER))
        super().on_message_begin()
        self.scope["extensions"] = {_EXTENSION: self}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """Its head has come."""
        self._in_head = False
        self._head_late.cancel()
        super().on_headers_complete()
        self._unanswered = [cycle for cycle in self._unanswered if not cycle.response_complete]
        self._unanswered.append(self.cycle)

    def resume_writing(self) -> None:
        """The kernel has taken all that was written."""
        self.activity.step()
        super().resume_writing()

    @property
    def left(self) -> bool:
        """The caller has been seen to leave: it sent FIN (also a half-close) or RST, or the connection has ended."""
        if self._ended or self.transport.is_closing():
            return True
        try:
            state = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        except OSError:
            return True
        return state != _ESTABLISHED

    @property
    def waits_for_a_head(self) -> bool:
        """It is ended when the head of a request does not come."""
        return not self._head_late.cancelled()

    async def written(self) -> bool:
        """Wait until the kernel has taken every byte that was written; False: the caller left, or takes none."""
        try:
            async with asyncio.timeout(self.timeout_keep_alive):
                while self.flow.write_paused and not self._ended:
                    await self.flow.drain()
        except TimeoutError:
            return False
        return not self._ended and not self.transport.is_closing()

    def abort(self) -> None:
        """End it, with what was written and not yet taken."""
        self.transport.abort()


def probe(connected: socket.socket, nth: int) -> None:
    """Have the kernel ask whether its peer is there; when, depends on which connection it is."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SILENT_S[nth % len(_SILENT_S)])
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_S[nth % len(_PROBE_S)])
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)


def connections_of(activity: Activity) -> type[Connection]:
    """The class of connections that tell this activity."""
    return type("Connection", (Connection,), {"activity": activity})


def connection_in(scope: Scope) -> Connection:
    """The connection on which this request came."""
    return cast(Connection, scope["extensions"][_EXTENSION])
