"""A connection of a mutant that speaks TLS, in memory beside its socket."""

import asyncio
import ssl
from functools import cache

from fake_router.identity import IDENTITY
from tests.mutants.sending import READ_BYTES, Link, Seen


@cache
def trusting() -> ssl.SSLContext:
    """A context that trusts the router's CA alone, and verifies the name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=IDENTITY.ca_pem.decode())
    return context


async def shaken(link: Link, context: ssl.SSLContext, timeout_s: float) -> "TlsLink | Seen":
    """The same connection, once its handshake is made; or that it failed."""
    over = TlsLink(link, context)
    try:
        async with asyncio.timeout(timeout_s):
            await over.shake()
    except OSError:  # ssl.SSLError and TimeoutError among them
        over.close()
        return Seen.UNSHAKEN
    except BaseException:
        over.close()
        raise
    return over


class TlsLink(Link):
    """As Link. An EOF without a close_notify, and a fatal alert, are an ssl.SSLError."""

    def __init__(self, link: Link, context: ssl.SSLContext) -> None:
        super().__init__(link.sock, link.upstream)
        self._arriving, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arriving, self._leaving, server_hostname=link.upstream[0])

    async def shake(self) -> None:
        """Make the handshake. Raises OSError."""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                await self._take()
            except ssl.SSLError:
                await self._flush()  # the alert that says why
                raise
            else:
                await self._flush()
                return

    async def send(self, data: bytes) -> None:
        """All of it."""
        self._tls.write(data)
        await self._flush()

    async def receive(self) -> bytes:
        """Some of what has come; empty after a close_notify. Raises ssl.SSLError."""
        while True:
            try:
                return self._tls.read(READ_BYTES)
            except ssl.SSLWantReadError:
                await self._take()

    async def _flush(self) -> None:
        await super().send(self._leaving.read())

    async def _take(self) -> None:
        data = await super().receive()
        if not data:
            self._arriving.write_eof()
        self._arriving.write(data)
