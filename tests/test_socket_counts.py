"""One look at the kernel answers all who wait for one, and no look that had begun before they asked."""

import asyncio
import socket
import threading
from collections.abc import Collection

import pytest

from fake_router.sock_diag import TcpSocket
from suites.socket_counts import SocketCounts


class Kernel:
    """Counts how often it is looked at, and for which ports; a look ends when it is let go."""

    def __init__(self) -> None:
        self.looks: list[set[int]] = []
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)

    def look(self, ports: Collection[int]) -> tuple[TcpSocket, ...]:
        self.looks.append(set(ports))
        self.begun.release()
        assert self.go_on.acquire(timeout=10)
        return tuple(_socket_towards(port) for port in sorted(ports) for _ in self.looks)


def _socket_towards(port: int) -> TcpSocket:
    return TcpSocket(source_port=1, remote_port=port, unread_bytes=0, inode=1, drops=0, family=2, name=b"")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """In the place of the real one."""
    made = Kernel()
    monkeypatch.setattr("suites.socket_counts.held_towards", made.look)
    return made


async def test_who_asks_during_a_look_shares_the_next_one(kernel: Kernel) -> None:
    counts = SocketCounts()
    first = asyncio.ensure_future(counts.towards((1,)))
    assert await asyncio.to_thread(kernel.begun.acquire, timeout=10)
    later = [asyncio.ensure_future(counts.towards(ports)) for ports in ((1, 2), (2, 3), (3,))]
    await asyncio.sleep(0)
    kernel.go_on.release(2)
    assert await first == (1,)
    assert await asyncio.gather(*later) == [(2, 2), (2, 2), (2,)]
    assert kernel.looks == [{1}, {1, 2, 3}]


async def test_who_is_cancelled_takes_the_look_from_nobody(kernel: Kernel) -> None:
    counts = SocketCounts()
    leaving, staying = (asyncio.ensure_future(counts.towards((port,))) for port in (1, 2))
    assert await asyncio.to_thread(kernel.begun.acquire, timeout=10)
    leaving.cancel()
    kernel.go_on.release()
    assert await staying == (1,)
    assert leaving.cancelled() or (await asyncio.wait((leaving,)) and leaving.cancelled())


async def test_a_kernel_that_tells_nothing_is_told_to_all_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> tuple[TcpSocket, ...]:
        raise OSError("no sock_diag")

    monkeypatch.setattr("suites.socket_counts.held_towards", refuse)
    counts = SocketCounts()
    told = await asyncio.gather(counts.towards((1,)), counts.towards((2,)), return_exceptions=True)
    assert [str(one) for one in told] == ["no sock_diag"] * 2


async def test_the_real_kernel_is_asked_for_each_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = tuple(each.getsockname()[1] for each in (one, other))
        with socket.create_connection(("127.0.0.1", ports[1])):
            assert await SocketCounts().towards(ports) == (0, 1)


async def test_sockets_are_let_go_of_when_so_few_are_left_and_no_sooner() -> None:
    counts = SocketCounts()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        first, second = (socket.create_connection(("127.0.0.1", port)) for _ in range(2))
        with second, first:
            held = await counts.held((port,))
            assert not await counts.let_go(held, down_to=1, within_s=0.05)
            waiting = asyncio.ensure_future(counts.let_go(held, down_to=1, within_s=10))
            await asyncio.sleep(0)
            first.close()
            assert await waiting
