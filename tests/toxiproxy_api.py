"""What answers where Toxiproxy's API was expected."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from suites.toxiproxy.answers import Proxy
from suites.way import Address

PROXY = Proxy(name="p", listen=("127.0.0.1", 1), upstream=("127.0.0.1", 2), enabled=True)


def http(status: int, body: str, *, more: str = "") -> bytes:
    """A whole answer."""
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{more}\r\n{body}".encode()


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[Address]:
    """A server that answers every request so, and closes; None: it never answers."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            await over.wait()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()
    finally:
        over.set()
        server.close()
        await server.wait_closed()
