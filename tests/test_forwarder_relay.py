"""Streams through the forwarder's server: what a caller gets, and that nobody's slowness is kept in memory."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import h11
import orjson
import pytest

from forwarder import Forwarder, Settings
from tests.api_server import serving
from tests.raw_router import FIN, NO_WORKERS, Act, RawRouter
from tests.test_forwarder_stream import DONE, END, HEAD, LAST, OK, WHOLE, chunks, event

REQUEST = b'{"prompt":[1],"stream":true}'
STREAM_BYTES = 100 * 1024 * 1024
PART = chunks(*[event("x" * 900)] * 60)  # about 60 KB


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A whole or cut answer: its status, its body, and whether its framing says that it is all there."""

    status: int
    body: bytes
    whole: bool


@asynccontextmanager
async def _serving(router_url: str, settings: Settings | None = None) -> AsyncIterator[tuple[Forwarder, Any]]:
    """A forwarder and its server on the loop of the test; yields it and its address."""
    async with serving(router_url, settings=settings) as server:
        yield server.service.forwarder, server.address


async def _sent(address: Any, body: bytes = REQUEST, *, receive_buffer: int = 0) -> tuple[Any, asyncio.StreamWriter]:
    """A caller that has sent a request; receive_buffer: of its socket, in bytes (0: the kernel's)."""
    caller = socket.socket()
    if receive_buffer:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    caller.setblocking(False)
    await asyncio.get_running_loop().sock_connect(caller, address)
    reader, writer = await asyncio.open_connection(sock=caller, limit=8_192)
    fields = f"Host: x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    writer.write(b"POST /v1/completions HTTP/1.1\r\n" + fields + body)
    return reader, writer


async def _post(address: Any, body: bytes = REQUEST) -> Got:
    reader, writer = await _sent(address, body)
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method="POST", target="/", headers=[("Host", "x")]))
    http.send(h11.EndOfMessage())
    http.receive_data(await reader.read())
    writer.close()
    status, got = 0, b""
    while True:
        match http.next_event():
            case h11.Response(status_code=status):
                pass
            case h11.Data(data=data):
                got += bytes(data)
            case found:
                return Got(status=status, body=got, whole=isinstance(found, h11.EndOfMessage))


async def _through(script: Sequence[Act | bytes], settings: Settings | None = None) -> Got:
    async with RawRouter(script) as router, _serving(router.url, settings) as (forwarder, address):
        got = await _post(address)
        assert forwarder.in_flight == 0
        return got


async def test_a_caller_gets_the_events_unchanged_and_a_clean_end() -> None:
    """Sent again before the first event where that is safe."""
    assert await _through([NO_WORKERS, OK]) == Got(status=200, body=b"".join(WHOLE), whole=True)


@pytest.mark.parametrize(
    ("act", "status", "kind"),
    [(FIN, 502, "may_have_run"), (HEAD + LAST, 502, "result_lost"), (Act(sends=HEAD, then="fin"), 502, "result_lost")],
)
async def test_a_failure_before_the_first_event_is_an_ordinary_answer(act: Act, status: int, kind: str) -> None:
    """With the status and the words of any other request."""
    got = await _through([act])
    assert (got.status, got.whole, orjson.loads(got.body)["error"]["type"]) == (status, True, kind)


@pytest.mark.parametrize(
    ("sends", "then"),
    [
        (chunks(event()), "fin"),
        (chunks(event()), "hold"),
        (chunks(event(), END, DONE), "fin"),
        (chunks(event(), END) + LAST, "keep"),
        (chunks(event(), b'data: {"error":{"message":"dead"}}\n\n', DONE) + LAST, "keep"),
    ],
)
async def test_a_failure_after_the_first_event_ends_the_stream_so_that_nobody_takes_it_for_whole(
    sends: bytes, then: str
) -> None:
    """An error event, no [DONE], and no last chunk."""
    settings = Settings(read_timeout_ms=100 if then == "hold" else 20_000)
    got = await _through([Act(sends=HEAD + sends, then=then)], settings)
    *_, last, rest = got.body.split(b"\n\n")
    assert (got.status, got.whole, rest) == (200, False, b"")
    assert got.body.startswith(event())
    assert orjson.loads(last.removeprefix(b"data: "))["error"]["type"] == "result_lost"
    assert DONE not in got.body


@pytest.mark.parametrize("sends", [b"", HEAD + chunks(event())])
async def test_a_caller_that_leaves_ends_the_attempt(sends: bytes) -> None:
    """Before the first event and after it: nobody else could hold what is still to come."""
    act = Act(sends=sends, then="hold")
    async with RawRouter([act]) as router, _serving(router.url) as (forwarder, address):
        reader, writer = await _sent(address)
        await router.until(requests=1)
        if sends:
            await reader.readuntil(b"\n\n")
        writer.close()
        await router.until_open(0)
        assert router.requests == 1
        assert forwarder.in_flight == 0


async def test_a_caller_that_leaves_right_after_the_last_event_had_it_all() -> None:
    """Nothing is sent again, and nothing stays open."""
    async with RawRouter([OK]) as router, _serving(router.url) as (forwarder, address):
        reader, writer = await _sent(address)
        await reader.readuntil(DONE)
        writer.transport.abort()
        assert (await _post(address, b'{"prompt":[1]}')).status == 200
        assert router.requests == 2
        assert forwarder.in_flight == 0


@dataclass(slots=True)
class Torrent:
    """A router that streams as much as it is let: `sent` bytes have been taken by its kernel."""

    sent: int = 0
    done: bool = False
    _server: asyncio.Server | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Yields its URL."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(0)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        try:
            while self.sent < STREAM_BYTES:
                writer.write(PART)
                await writer.drain()
                self.sent += len(PART)
            writer.write(chunks(END, DONE) + LAST)
            self.done = True
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def stalled(self) -> int:
        """Wait until it gets nothing more rid of; how much it has."""
        before = -1
        while before != self.sent:
            before = self.sent
            await asyncio.sleep(0.3)  # no event tells that nothing happens
        return self.sent


MOST_IN_BETWEEN = 24 * 1024 * 1024  # the socket buffers of two connections, which the kernel lets grow to 6 MB each


async def test_a_caller_that_does_not_read_stops_the_router_and_gets_all_when_it_reads_on() -> None:
    """100 MB never lie in the forwarder: what it holds is what was sent less what lies in the kernel."""
    torrent = Torrent()
    async with torrent.running() as url, _serving(url) as (_, address):
        reader, writer = await _sent(address, receive_buffer=8_192)
        await reader.readuntil(b"\n\n")
        in_between = await torrent.stalled()
        assert in_between < MOST_IN_BETWEEN < STREAM_BYTES
        size = 0
        ending = b""
        while piece := await reader.read(1 << 18):
            size += len(piece)
            ending = (ending + piece)[-64:]
        writer.close()
        assert torrent.done
        assert size > STREAM_BYTES
        assert ending.endswith(DONE + b"\r\n" + LAST)
