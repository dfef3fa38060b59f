"""A relay in a worker's container passes on each end of each side by itself, as if nothing were between."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator

import pytest

from suites.stacks.relay import relay

HOST = "127.0.0.1"
RESET = struct.pack("ii", 1, 0)
WITHIN_S = 10


class Through:
    """A connection through a relay, both ends of it."""

    def __init__(self, client: socket.socket, worker: socket.socket) -> None:
        self.client, self.worker = client, worker


def free_port() -> int:
    """One that nobody listens on."""
    with socket.create_server((HOST, 0)) as sock:
        return int(sock.getsockname()[1])


@contextlib.asynccontextmanager
async def relaying(to: int) -> AsyncIterator[int]:
    """Where one listens that leads there."""
    port = free_port()
    running = asyncio.ensure_future(relay((HOST, port), (HOST, to)))
    try:
        async with asyncio.timeout(WITHIN_S):
            while True:
                with contextlib.suppress(ConnectionRefusedError):
                    _, writer = await asyncio.open_connection(HOST, port)
                    writer.close()
                    break
                await asyncio.sleep(0.01)
        yield port
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[Through]:
    """A client and a worker, with a relay between."""
    loop = asyncio.get_running_loop()
    with socket.create_server((HOST, 0)) as server:
        server.setblocking(False)
        async with relaying(server.getsockname()[1]) as port, asyncio.timeout(WITHIN_S):
            (await loop.sock_accept(server))[0].close()  # of who looked whether it listens
            with socket.socket() as client:
                client.setblocking(False)
                await loop.sock_connect(client, (HOST, port))
                worker, _ = await loop.sock_accept(server)
                with worker:
                    worker.setblocking(False)
                    yield Through(client, worker)


async def heard(sock: socket.socket) -> bytes:
    """What comes next; nothing at its end."""
    return await asyncio.get_running_loop().sock_recv(sock, 4096)


async def test_what_is_sent_comes_and_what_is_answered_comes_back() -> None:
    """A request of megabytes too."""
    loop = asyncio.get_running_loop()
    async with connected() as both:
        sent = bytes(range(256)) * 8192
        sending = asyncio.ensure_future(loop.sock_sendall(both.client, sent))
        came = b""
        while len(came) < len(sent):
            came += await heard(both.worker)
        await sending
        assert came == sent
        await loop.sock_sendall(both.worker, b"answer")
        assert await heard(both.client) == b"answer"


async def test_who_ends_its_side_still_hears_the_other() -> None:
    """From either end."""
    loop = asyncio.get_running_loop()
    async with connected() as both:
        both.client.shutdown(socket.SHUT_WR)
        assert await heard(both.worker) == b""
        await loop.sock_sendall(both.worker, b"late")
        assert await heard(both.client) == b"late"
        both.worker.shutdown(socket.SHUT_WR)
        assert await heard(both.client) == b""


async def test_the_end_of_a_worker_is_the_client_s_to_answer() -> None:
    """The worker hears no end before the client has noticed: who waits for that waits for the client."""
    async with connected() as both:
        both.worker.shutdown(socket.SHUT_WR)
        assert await heard(both.client) == b""
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await heard(both.worker)
        both.client.close()
        assert await heard(both.worker) == b""


@pytest.mark.parametrize("who", ["client", "worker"])
async def test_a_reset_is_passed_on_as_one(who: str) -> None:
    """From either end."""
    async with connected() as both:
        ends, hears = (both.client, both.worker) if who == "client" else (both.worker, both.client)
        ends.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        ends.close()
        with pytest.raises(ConnectionResetError):
            await heard(hears)


async def test_it_has_accepted_before_it_dials() -> None:
    """So that who is refused behind it shows a reset, and no refusal."""
    loop = asyncio.get_running_loop()
    async with relaying(free_port()) as port, asyncio.timeout(WITHIN_S):
        with socket.socket() as client:
            client.setblocking(False)
            await loop.sock_connect(client, (HOST, port))
            with pytest.raises(ConnectionResetError):
                await heard(client)
