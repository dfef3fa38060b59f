"""A caller reports what arrived and how the connection ended, whatever its peer does."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from suites.caller import call
from suites.history import Arrival
from suites.pipe import Pipe
from suites.reading import Reply
from suites.request import Request

CEILING_MS = 20_000
RESET = struct.pack("ii", 1, 0)
BODY = b'{"prompt": [1, 2]}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
LENGTH_2, LENGTH_9 = HEAD + b"content-length: 2\r\n\r\n", HEAD + b"content-length: 9\r\n\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"

Script = Callable[[socket.socket], Awaitable[None]]


@contextlib.asynccontextmanager
async def peer(script: Script) -> AsyncIterator[tuple[str, int]]:
    """A server that gives its first connection to the script and then closes it, and accepts no other."""

    async def serve() -> None:
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
        with connection:
            connection.setblocking(False)
            await script(connection)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        serving = asyncio.create_task(serve())
        yield listener.getsockname()
        await serving


async def request_on(connection: socket.socket) -> bytes:
    """The whole request."""
    received = b""
    while not received.endswith(BODY):
        data = await asyncio.get_running_loop().sock_recv(connection, 65536)
        assert data, f"the request ended after {received!r}"
        received += data
    return received


def answering(*parts: bytes, reset: bool = False) -> Script:
    """Read the request, send the parts, and end by FIN or by RST."""

    async def script(connection: socket.socket) -> None:
        await request_on(connection)
        for part in parts:
            await asyncio.get_running_loop().sock_sendall(connection, part)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    return script


def hanging(*parts: bytes) -> Script:
    """Read the request, send the parts, and do nothing until the caller has gone."""

    async def script(connection: socket.socket) -> None:
        await answering(*parts)(connection)
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""

    return script


async def called(
    address: tuple[str, int],
    *,
    segments: int = 1,
    ceiling_ms: int = CEILING_MS,
    body: bytes = BODY,
    expect: bool = False,
) -> Reply:
    headers = {"X-Caller": "yes"}
    request = Request(target="/v1/completions", body=body, headers=headers, segments=segments, expect=expect)
    return await call(address, request, ceiling_ms=ceiling_ms)


@pytest.mark.parametrize(
    ("script", "arrival", "status", "body"),
    [
        (answering(LENGTH_2 + b"{}"), "whole", 200, b"{}"),
        (answering(HEAD + b"content-length: 0\r\n\r\n"), "whole", 200, b""),
        (answering(b"HTTP/1.1 204 No\r\n\r\n"), "whole", 204, b""),
        (answering(CHUNKED, b"0\r\n\r\n"), "whole", 200, b"{}"),
        (answering(HEAD + b"\r\n{}"), "whole", 200, b"{}"),  # until it is closed
        (answering(b"HTTP/1.0 503 No\r\n\r\nno"), "whole", 503, b"no"),
        (answering(INTERIM + LENGTH_2 + b"{}"), "whole", 200, b"{}"),
        (answering(LENGTH_9 + b"{}"), "cut", 200, b"{}"),
        (answering(LENGTH_9 + b"{}", reset=True), "cut", 200, b"{}"),
        (answering(LENGTH_9), "cut", 200, b""),
        (answering(CHUNKED), "cut", 200, b"{}"),
        (answering(HEAD + b"\r\n{}", reset=True), "cut", 200, b"{}"),
        (answering(b"\x15\x03\x03\x00\x02\x02\x28"), "garbled", None, b""),  # a TLS alert
        (answering(b"<html>no head</html>\n"), "garbled", None, b""),
        (answering(b"HTTP/1.1 20"), "garbled", None, b""),
        (answering(HEAD), "garbled", None, b""),
        (answering(CHUNKED + b"zz\r\n"), "garbled", 200, b"{}"),
        (answering(SWITCH), "garbled", None, b""),
        (answering(), "nothing", None, b""),
        (answering(reset=True), "nothing", None, b""),
    ],
)
async def test_the_arrival_tells_what_came_and_how_it_ended(
    script: Script, arrival: str, status: int | None, body: bytes
) -> None:
    async with peer(script) as address:
        reply = await called(address)
    assert (reply.arrival, reply.status, reply.body) == (Arrival(arrival), status, body)
    assert bool(reply.says) == (reply.arrival is not Arrival.WHOLE)


@pytest.mark.parametrize(
    ("script", "behind"),
    [
        (answering(LENGTH_2 + b"{}"), b""),
        (answering(LENGTH_2 + b"{}", reset=True), b""),
        (answering(LENGTH_2 + b"{}\r\n"), b"\r\n"),
        (answering(CHUNKED + b"0\r\n\r\n" + LENGTH_2 + b"{}"), LENGTH_2 + b"{}"),
        (answering(HEAD + b"connection: close\r\ncontent-length: 0\r\n\r\n?"), b"?"),
        (answering(b"HTTP/1.1 204 No\r\n\r\nno"), b"no"),
    ],
)
async def test_what_came_behind_a_whole_answer_is_told_and_no_part_of_it(script: Script, behind: bytes) -> None:
    """RFC 9112 s9.2; whatever the answer says of its connection."""
    async with peer(script) as address:
        reply = await called(address)
    assert (reply.arrival, reply.behind) == (Arrival.WHOLE, behind)


async def test_fin_and_reset_before_any_byte_are_told_apart_in_words() -> None:
    said = []
    for reset in (False, True):
        async with peer(answering(reset=reset)) as address:
            said.append((await called(address)).says)
    assert said == ["the connection ended: EOF", "the connection ended: Connection reset by peer"]


@pytest.mark.parametrize(
    ("parts", "status", "body"),
    [((), None, b""), ((HEAD,), None, b""), ((LENGTH_9 + b"{}",), 200, b"{}")],
)
async def test_the_ceiling_ends_a_hang_and_keeps_what_had_arrived(
    parts: tuple[bytes, ...], status: int | None, body: bytes
) -> None:
    async with peer(hanging(*parts)) as address:
        reply = await called(address, ceiling_ms=100)
    assert (reply.arrival, reply.status, reply.body) == (Arrival.HUNG, status, body)


async def test_a_refused_connection_is_nothing_with_the_reason() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        reply = await called(bound.getsockname())
    assert reply == Reply(arrival=Arrival.NOTHING, says="no connection: Connection refused")


async def test_an_answer_that_overtakes_the_request_is_read() -> None:
    async def script(connection: socket.socket) -> None:
        await asyncio.get_running_loop().sock_sendall(connection, b"HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\nno")
        connection.shutdown(socket.SHUT_WR)
        await request_on(connection)

    async with peer(script) as address:
        reply = await called(address, segments=2)
    assert (reply.arrival, reply.status, reply.body) == (Arrival.WHOLE, 503, b"no")


@pytest.mark.parametrize("segments", [1, 2])
async def test_a_request_leaves_in_exactly_so_many_segments(segments: int) -> None:
    seen = []

    async def script(connection: socket.socket) -> None:
        seen.append(await request_on(connection))
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        seen.append(struct.unpack_from("=I", info, 152)[0])  # linux/tcp.h: tcpi_data_segs_in
        await asyncio.get_running_loop().sock_sendall(connection, LENGTH_2 + b"{}")
        seen.append(await asyncio.get_running_loop().sock_recv(connection, 1))

    async with peer(script) as address:
        reply = await called(address, segments=segments)
    host = f"Host: {address[0]}:{address[1]}".encode()
    head = b"POST /v1/completions HTTP/1.1\r\n" + host + b"\r\nX-Caller: yes\r\nContent-Length: 18\r\n\r\n"
    assert seen == [head + BODY, segments, b""]  # b"": it closes the connection, kept alive by nobody
    assert reply.headers == (("content-type", "text/plain"), ("content-length", "2"))


async def test_other_numbers_of_segments_are_refused() -> None:
    with pytest.raises(ValueError, match="segments is 3"):
        await called(("127.0.0.1", 1), segments=3)


async def test_a_cancelled_call_closes_its_connection() -> None:
    received, closed = asyncio.Event(), asyncio.Event()

    async def script(connection: socket.socket) -> None:
        await request_on(connection)
        received.set()
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
        closed.set()

    async with peer(script) as address:
        calling = asyncio.create_task(called(address))
        await received.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await asyncio.wait_for(closed.wait(), CEILING_MS / 1000)


async def test_each_byte_can_be_written_by_itself() -> None:
    """The kernel joins only what has to wait for acknowledgements: the first ten leave alone (RFC 6928)."""
    segments = []

    async def script(connection: socket.socket) -> None:
        await request_on(connection)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        segments.append(struct.unpack_from("=I", info, 152)[0])  # linux/tcp.h: tcpi_data_segs_in
        await asyncio.get_running_loop().sock_sendall(connection, LENGTH_2 + b"{}")

    async with peer(script) as address:
        await called(address, segments=0)
    assert segments[0] >= 10


def test_what_waits_in_a_pipe_is_received_without_waiting() -> None:
    """Nothing is nothing, and so is an end."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        pipe = Pipe(sock=ours)
        assert pipe.waiting() == b""
        theirs.sendall(b"more")
        assert pipe.waiting() == b"more"
        theirs.close()
        assert pipe.waiting() == b""
