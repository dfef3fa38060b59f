"""No request is written to a connection on which something has come that nobody asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from forwarder.client import Forwarder
from forwarder.errors import NotExecutedError
from forwarder.policy import POLICIES
from tests.raw_router import OK, reply, result

FOREIGN = reply(200, result(text="another's"))
REQUEST = {"model": "m", "prompt": [1]}


@dataclass(slots=True)
class TalkativeRouter:
    """Answers every request, and sends `more` on its first connection when it is told to."""

    more: bytes
    url: str = ""
    connections: int = 0
    speak: asyncio.Event = field(default_factory=asyncio.Event)
    spoken: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            start = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(start.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]))
            writer.write(OK)
            await writer.drain()
            if self.connections == 1:
                await self.speak.wait()
                writer.write(self.more)
                await writer.drain()
                self.spoken.set()
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def talkative(more: bytes) -> AsyncIterator[TalkativeRouter]:
    router = TalkativeRouter(more)
    router.server = await asyncio.start_server(router.serve, "127.0.0.1", 0)
    router.url = f"http://127.0.0.1:{router.server.sockets[0].getsockname()[1]}"
    try:
        yield router
    finally:
        router.server.close()


@pytest.mark.parametrize("turns", [0, 20])
@pytest.mark.parametrize("more", [FOREIGN, b"0123456789"], ids=["reply", "stray"])
async def test_an_idle_connection_on_which_bytes_have_come_is_not_used_again(more: bytes, turns: int) -> None:
    """Whether they still lie in the kernel, or the loop has had its turns to read them."""
    async with talkative(more) as router, Forwarder([router.url]) as forwarder:
        await forwarder.complete(REQUEST)
        router.speak.set()
        await router.spoken.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        completion = await forwarder.complete(REQUEST)
        assert completion.choices[0].text == "four"
        assert router.connections == 2


async def test_what_was_not_written_to_a_soiled_connection_is_known_not_to_be_executed() -> None:
    """The next connection is refused: the connection that was looked at and left alone is no evidence of a sending."""
    async with talkative(FOREIGN) as router, Forwarder([router.url], policy=POLICIES["never"]) as forwarder:
        await forwarder.complete(REQUEST)
        router.speak.set()
        await router.spoken.wait()
        assert router.server is not None
        router.server.close()
        with pytest.raises(NotExecutedError):
            await forwarder.complete(REQUEST)
