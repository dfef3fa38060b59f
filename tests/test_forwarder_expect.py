"""A request that waits for 100 Continue: its body is sent when the router asks for it, and else not at all."""

import asyncio

import pytest

from forwarder import NEVER, SAFE, Forwarder, MayHaveRunError, NotExecutedError, Settings
from tests.raw_router import NO_WORKERS, OK

REQUEST = {"prompt": [1], "return_token_ids": True}
SETTINGS = Settings(read_timeout_ms=20_000)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Asked:
    """What one request brought: its head, and what came when the router had answered that."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.head = b""
        self.rest = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the head, answer it, and read what comes then; a body gets a result."""
        self.head = await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        if not self.answer:
            writer.write_eof()
        self.rest = await reader.read(1 << 16)
        if self.rest:
            writer.write(OK)
        writer.close()


async def _ask(asked: Asked) -> None:
    async with await asyncio.start_server(asked.serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Forwarder([url], policy=NEVER, settings=SETTINGS) as forwarder:
            await forwarder.complete(REQUEST, expect=True)


async def test_an_expectation_that_is_not_met_is_given_up() -> None:
    """After a 417 the request is repeated without it (RFC 9110 s10.1.1)."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).lower())
        expects = b"expect:" in heads[-1]
        writer.write(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n" if expects else OK)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Forwarder([url], policy=SAFE, settings=SETTINGS) as forwarder:
            await forwarder.complete(REQUEST, expect=True)
    assert [b"expect:" in head for head in heads] == [True, False]


async def test_the_body_is_sent_when_the_router_says_continue() -> None:
    """In one piece, after the 100."""
    asked = Asked(CONTINUE)
    await _ask(asked)
    assert b"\r\nexpect: 100-continue\r\n" in asked.head.lower()
    assert asked.rest == b'{"prompt":[1],"return_token_ids":true}'


@pytest.mark.parametrize(("answer", "error"), [(NO_WORKERS, NotExecutedError), (b"", MayHaveRunError)])
async def test_without_continue_nothing_of_the_body_is_sent(answer: bytes, error: type[Exception]) -> None:
    """A final status is the answer; an end without one proves nothing, for a body may be sent without the 100."""
    asked = Asked(answer)
    with pytest.raises(error):
        await _ask(asked)
    assert asked.rest == b""
