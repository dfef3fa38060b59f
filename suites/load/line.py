"""The way of one slot to its instance: a connection that is kept, and made anew when it is gone."""

import asyncio
import errno
import os
import socket
import ssl

from suites.load.connection import Answer, BrokenError, Connection
from suites.load.progress import Count, Progress

IP_BIND_ADDRESS_NO_PORT = 24  # linux/in.h; Python names it nowhere: a port is chosen when it is known where to


class RefusedError(BrokenError):
    """There is no connection: nothing was sent."""


class NoPortError(Exception):
    """All ports of a source address are taken: the machine's limit, not the subject's."""


class Gate:
    """So many connections to one instance may be made at a time. tls: over TLS, so verified."""

    def __init__(
        self, address: tuple[str, int], at_a_time: int, progress: Progress, tls: ssl.SSLContext | None = None
    ) -> None:
        self.address = address
        self._tls = tls
        self.host = f"{address[0]}:{address[1]}"
        self._room = asyncio.Semaphore(at_a_time)
        self._progress = progress

    async def connect(self, source: str) -> Connection:
        """Raises RefusedError and NoPortError."""
        loop = asyncio.get_running_loop()
        async with self._room:
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if source:
                    sock.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
                    sock.bind((source, 0))
                await loop.sock_connect(sock, self.address)
                _, connection = await loop.create_connection(
                    lambda: Connection(loop),
                    sock=sock,
                    ssl=self._tls,
                    server_hostname=self.address[0] if self._tls else None,
                )
            except ssl.SSLError as error:
                sock.close()
                self._progress.add(Count.REFUSED)
                raise RefusedError(f"no TLS: {error.reason or 'it ended'}") from None
            except OSError as error:
                sock.close()
                if error.errno in (errno.EADDRNOTAVAIL, errno.EADDRINUSE):
                    raise NoPortError(
                        f"no port is free from {source or 'any address'} to {self.host}; expected more: widen "
                        "net.ipv4.ip_local_port_range, or ask for fewer in flight"
                    ) from None
                self._progress.add(Count.REFUSED)
                why = os.strerror(error.errno).lower() if error.errno else type(error).__name__
                raise RefusedError(f"no connection: {why}") from None
            except BaseException:
                sock.close()
                raise
        self._progress.add(Count.CONNECTS)
        return connection


class Line:
    """One slot's connection."""

    __slots__ = ("_connection", "_progress", "gate", "source")

    def __init__(self, gate: Gate, source: str, progress: Progress) -> None:
        self.gate = gate
        self.source = source
        self._progress = progress
        self._connection: Connection | None = None

    async def ask(self, request: bytes, within_s: float) -> Answer | None:
        """The answer to it; None, and the connection is closed, where it has not come within that time.

        Raises BrokenError, RefusedError and NoPortError.
        """
        connection = await self.open()
        try:
            return await connection.ask(request, within_s)
        except BrokenError:
            self._progress.add(Count.BROKEN)
            raise

    async def leave(self, request: bytes) -> None:
        """Send it, and leave before its answer. Raises what `open` does."""
        (await self.open()).leave(request)

    async def open(self) -> Connection:
        """A connection that can be used. Raises RefusedError and NoPortError."""
        connection = self._connection
        if connection is None or connection.closed:
            self._connection = connection = await self.gate.connect(self.source)
        return connection

    def close(self) -> None:
        """Safe to call twice."""
        if self._connection is not None:
            self._connection.close()
