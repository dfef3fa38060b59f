"""The bytes between a caller and a subject, plain or over TLS, on a socket that the caller owns."""

import asyncio
import contextlib
import os
import socket
import ssl
from dataclasses import dataclass, field

TLS_FAILED = "TLS"  # how what is said of a failure of TLS begins
_READ_BYTES = 1 << 16


@dataclass(slots=True, kw_only=True)
class Pipe:
    """A connected socket. Raises OSError where the connection fails or was cut."""

    sock: socket.socket

    async def open(self) -> None:
        """Ready to send."""

    async def send(self, data: bytes) -> None:
        """All of it, in one go."""
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def receive(self) -> bytes:
        """What comes next; empty when the peer has ended its side in good order."""
        return await _received(self.sock)

    def waiting(self) -> bytes:
        """What has come by now and was not received; empty also where the connection has ended, however that was."""
        try:
            return self.sock.recv(_READ_BYTES)
        except OSError:  # BlockingIOError among them: nothing has come
            return b""


@dataclass(slots=True, kw_only=True)
class TlsPipe(Pipe):
    """The same over TLS. One `send` is one write to the socket, whatever records it takes.

    An end without close_notify is an error: the bytes before it may have been cut (RFC 8446 s6.1).
    """

    context: ssl.SSLContext
    server_name: str
    _in: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    _out: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    _tls: ssl.SSLObject = field(init=False)

    def __post_init__(self) -> None:
        self._tls = self.context.wrap_bio(self._in, self._out, server_hostname=self.server_name)

    async def open(self) -> None:
        """Shake hands. Raises ssl.SSLError, an OSError, for a certificate that is not believed."""
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._exchange()
            except ssl.SSLError:
                await self._flush()  # the alert that tells the peer why
                raise
        await self._flush()

    async def send(self, data: bytes) -> None:
        self._tls.write(data)
        await self._flush()

    async def receive(self) -> bytes:
        while True:
            try:
                return self._tls.read(_READ_BYTES)
            except ssl.SSLWantReadError:
                await self._exchange()
            except ssl.SSLZeroReturnError:
                return b""

    def waiting(self) -> bytes:
        self._in.write(Pipe.waiting(self))
        try:
            return self._tls.read(_READ_BYTES)
        except ssl.SSLError:  # nothing, or no more than a part of a record, or the end
            return b""

    async def _exchange(self) -> None:
        await self._flush()
        data = await _received(self.sock)
        if not data:
            raise ConnectionAbortedError("EOF without close_notify")
        self._in.write(data)

    async def _flush(self) -> None:
        if data := self._out.read():
            await asyncio.get_running_loop().sock_sendall(self.sock, data)


async def _received(sock: socket.socket) -> bytes:
    """What comes next. Cancelling it loses no byte: they are taken in the very step in which they are returned, which
    sock_recv does not promise.
    """
    loop = asyncio.get_running_loop()
    while True:
        with contextlib.suppress(BlockingIOError):
            return sock.recv(_READ_BYTES)
        readable: asyncio.Future[None] = loop.create_future()
        loop.add_reader(sock, _set, readable)
        try:
            await readable
        finally:
            loop.remove_reader(sock)


def _set(readable: asyncio.Future[None]) -> None:
    if not readable.done():
        readable.set_result(None)


def pipe_on(sock: socket.socket, host: str, tls: ssl.SSLContext | None) -> Pipe:
    """The pipe over that socket: plain, or over TLS to a peer that proves to be that host."""
    return Pipe(sock=sock) if tls is None else TlsPipe(sock=sock, context=tls, server_name=host)


def in_words(error: OSError) -> str:
    """Why a connection failed or ended."""
    if isinstance(error, ssl.SSLError):  # its errno is OpenSSL's
        return f"{TLS_FAILED}: {getattr(error, 'verify_message', '') or error.reason or error}"
    if isinstance(error, socket.gaierror):  # its errno is the resolver's
        return error.strerror or str(error)
    return os.strerror(error.errno) if error.errno else str(error)  # asyncio puts words of its own in strerror
