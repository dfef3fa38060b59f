"""A hop between two forwarders: it counts what passes, operation by operation, and changes nothing of it."""

import asyncio
import socket
import struct
from collections import Counter
from typing import cast

from fake_router.routes import Work, unserved_work
from fake_router.wire import Request, RequestParser
from suites.way import Address

_NO_LINGER = struct.pack("ii", 1, 0)  # close() sends a reset then


class Hop:
    """A port that leads to that address; where it is changed, new connections do. Lives on the loop that opened it.
    sendings: how often each operation came.
    """

    def __init__(self, towards: Address) -> None:
        self.towards = towards
        self.sendings: Counter[int] = Counter()
        self.port = 0
        self._server: asyncio.Server | None = None
        self._ends: set[_End] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    async def open(self) -> None:
        """Listen on a port of 127.0.0.1. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _FromCaller(self), "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """End it, and every connection over it. Safe to call twice."""
        if self._server is not None:
            self._server.close()
        self.cut()

    def cut(self) -> None:
        """End every connection over it, whatever is still to be read of it."""
        for end in tuple(self._ends):
            end.reset()
            if end.transport is not None:
                end.transport.abort()  # one that is being closed waits for its reader

    async def emptied(self) -> None:
        """No connection over it is open any more."""
        await self._empty.wait()

    def came(self, request: Request) -> None:
        """A whole request has passed; one that carries an operation is counted, whatever it asks for."""
        work = unserved_work(request)
        if isinstance(work, Work) and work.operation is not None:
            self.sendings[work.operation] += 1

    def begun(self, end: "_End") -> None:
        """That connection is open."""
        self._ends.add(end)
        self._empty.clear()

    def ended(self, end: "_End") -> None:
        """That connection is over."""
        self._ends.discard(end)
        if not self._ends:
            self._empty.set()


class _End(asyncio.Protocol):
    """One side of a connection over a hop. What comes before the other side is there is kept for it."""

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self.other: _End | None = None
        self.transport: asyncio.Transport | None = None
        self._kept = bytearray()
        self._fin = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # of uvloop it is of no class of asyncio's
        self.hop.begun(self)
        if self._kept:
            self.transport.write(bytes(self._kept))
        if self._fin:
            self.transport.write_eof()

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.write(data)

    def eof_received(self) -> bool:
        if self.other is not None:
            self.other.fin()
        return True  # the other direction goes on

    def write(self, data: bytes) -> None:
        """Pass it on."""
        if self.transport is None:
            self._kept += data
        else:
            self.transport.write(data)

    def fin(self) -> None:
        """Nothing more comes from the other side."""
        self._fin = True
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write_eof()

    def reset(self) -> None:
        """End it as a reset does."""
        if self.transport is None or self.transport.is_closing():
            return
        of_it: socket.socket = self.transport.get_extra_info("socket")
        of_it.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.transport.abort()

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self.hop.ended(self)
        if self.other is None:
            return
        if error is not None or not self._fin:
            self.other.reset()
        elif self.other.transport is not None:
            self.other.transport.close()


class _FromCaller(_End):
    """The side of the forwarder that sends: its requests are read as they pass."""

    def __init__(self, hop: Hop) -> None:
        super().__init__(hop)
        self._parser = RequestParser()
        self._dialling: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.other = _End(self.hop)
        self.other.other = self
        self._dialling = asyncio.ensure_future(self._dial(self.other))

    async def _dial(self, other: _End) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: other, *self.hop.towards)
        except OSError:
            self.reset()

    def data_received(self, data: bytes) -> None:
        for event in self._parser.feed(data):
            if isinstance(event, Request):
                self.hop.came(event)
        super().data_received(data)
