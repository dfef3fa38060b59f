"""A caller that writes: what waits for 100 Continue, and what is answered before it is all written."""

import asyncio
import contextlib
import socket

from fake_router.kernel import unread_in
from suites.history import Arrival
from tests.test_caller import BODY, HEAD, LENGTH_2, called, peer


async def test_a_body_waits_for_100_continue() -> None:
    """Not a byte of it leaves before; then all of it does."""
    seen = []

    async def script(connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += await loop.sock_recv(connection, 1 << 16)
        seen.append(head)
        await loop.sock_sendall(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
        seen.append(await loop.sock_recv(connection, 1 << 16))
        await loop.sock_sendall(connection, LENGTH_2 + b"{}")

    async with peer(script) as address:
        reply = await called(address, expect=True)
    assert b"\r\nExpect: 100-continue\r\n" in seen[0]
    assert (seen[1], reply.status) == (BODY, 200)


async def test_a_final_answer_in_place_of_100_continue_ends_the_call() -> None:
    """The body is never sent."""
    rest = []

    async def script(connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_recv(connection, 1 << 16)
        await loop.sock_sendall(connection, HEAD + b"content-length: 0\r\n\r\n")
        rest.append(await loop.sock_recv(connection, 1 << 16))

    async with peer(script) as address:
        reply = await called(address, expect=True)
    assert (reply.arrival, rest) == (Arrival.WHOLE, [b""])


async def test_an_answer_is_read_while_a_large_body_is_still_written() -> None:
    """A peer that answers early and reads no further does not make its caller hang (RFC 9112 s9.5)."""

    async def script(connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_recv(connection, 100)
        await loop.sock_sendall(connection, b"HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\nno")
        await answered.wait()

    answered = asyncio.Event()
    async with peer(script) as address:
        reply = await called(address, body=b"x" * 16_000_000)
        answered.set()
    assert (reply.arrival, reply.status) == (Arrival.WHOLE, 503)


async def test_the_second_segment_leaves_when_the_first_has_been_read() -> None:
    """However late that is: two that wait together are read as one."""
    seen = []

    async def script(connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(connection, readable.set)
        await readable.wait()
        loop.remove_reader(connection)
        waiting = unread_in(connection.getsockname()[1], of=connection.getpeername()[1])
        seen.append(await loop.sock_recv(connection, 1 << 16))
        assert waiting == len(seen[0])
        seen.append(await loop.sock_recv(connection, 1 << 16))
        await loop.sock_sendall(connection, LENGTH_2 + b"{}")

    async with peer(script) as address:
        reply = await called(address, segments=2)
    assert (seen[0][-4:], seen[1], reply.status) == (b"\r\n\r\n", BODY, 200)


async def test_a_peer_that_reads_nothing_gets_the_rest_all_the_same() -> None:
    """As where nobody can tell what it has read."""

    async def script(connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        came = b""
        while not came.endswith(b"\r\n\r\n" + BODY):
            with contextlib.suppress(BlockingIOError):
                came = connection.recv(1 << 16, socket.MSG_PEEK)
            await asyncio.sleep(0)
        await loop.sock_sendall(connection, LENGTH_2 + b"{}")

    async with peer(script) as address:
        reply = await called(address, segments=2)
    assert reply.status == 200
