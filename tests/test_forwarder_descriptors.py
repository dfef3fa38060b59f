"""The forwarder closes no descriptor that is not its own, also where its loop has closed one behind its back."""

import asyncio
import gc
import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
import uvloop

from forwarder.client import Forwarder
from forwarder.errors import ForwardError
from forwarder.own_socket import OwnSocket
from forwarder.policy import NEVER
from forwarder.settings import Settings
from suites.workload import completion_request

CALLS = 300
SENTINELS = 4
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture
def resetting() -> Iterator[int]:
    """A port at which every connection is reset as soon as it is accepted."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                data = b"" if stopping.is_set() else b"."
                connection.close()
                if not data:
                    return

        stopping = threading.Event()
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        stopping.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_reset_at_accept_costs_nobody_a_descriptor(scheme: str, resetting: int) -> None:
    """On uvloop, whose transport may be gone before it has taken the socket over: files that were opened meanwhile, and
    have got the numbers that became free, stay open.
    """

    async def calls() -> int:
        stolen = 0
        async with Forwarder([f"{scheme}://127.0.0.1:{resetting}"], policy=NEVER, settings=Settings()) as forwarder:
            for _ in range(CALLS):
                with pytest.raises(ForwardError):
                    await forwarder.complete(completion_request(1))
                mine = [os.open(os.devnull, os.O_RDONLY) for _ in range(SENTINELS)]
                gc.collect()
                await asyncio.sleep(0)
                stolen += sum(not _close(descriptor) for descriptor in mine)
        return stolen

    gc.freeze()  # what other tests have left is not looked through again after each call
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            assert runner.run(calls()) == 0
    finally:
        gc.unfreeze()


def _close(descriptor: int) -> bool:
    try:
        os.close(descriptor)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("reused", [False, True])
def test_a_socket_whose_descriptor_was_closed_lets_go_of_its_number(reused: bool) -> None:
    """Whether or not another file has the number by now."""
    sock = OwnSocket(socket.AF_INET, socket.SOCK_STREAM, 0)
    number = sock.fileno()
    os.close(number)
    reader, writer = os.pipe()
    if reused:
        os.dup2(reader, number)
    sock.close()
    assert sock.fileno() == -1
    if reused:
        os.fstat(number)  # raises if it was closed
        os.close(number)
    for end in {reader, writer} - ({number} if reused else set()):
        os.close(end)


def test_a_socket_that_is_forgotten_is_closed() -> None:
    """As any other is."""
    sock = OwnSocket(socket.AF_INET, socket.SOCK_STREAM, 0)
    number = sock.fileno()
    del sock
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
