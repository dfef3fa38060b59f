"""A peer that pipelines without end fills the kernel's buffers, and not the router's memory."""

import socket
from collections.abc import Iterator

import pytest

from fake_router.connection import MAX_WAITING, MAX_WAITING_BYTES
from fake_router.entries import Received, Unserved
from tests.router_client import LONG_MS, Client, Stage, one, request, staged, work

REQUESTS = 3 * MAX_WAITING
SILENT = 7


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def test_what_is_pipelined_behind_a_silence_waits_in_the_kernel(stage: Stage) -> None:
    """The sender is stopped by back-pressure; when the silence ends, all that was read is in the ledger."""
    stage.arm(one("silence-after"), first=SILENT)
    with Client(stage.port) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client.send(work(SILENT))
        stage.until(Received, 1)
        sent = _until_it_blocks(client, stage)
        assert sent is not None, "nothing held the sender back"
        stage.heal()
        stage.until(Unserved, MAX_WAITING)
    assert len(stage.of(Received)) == 1


def _until_it_blocks(client: Client, stage: Stage) -> int | None:
    """How many bytes the kernels took; None where they took many times more than any buffer holds."""
    client.socket.setblocking(False)
    data = work(1) * 100
    sent = 0
    while sent < 200 * len(data) * 100:
        try:
            sent += client.socket.send(data)
        except BlockingIOError:
            stage.entries()  # the router has had its turns
            try:
                sent += client.socket.send(data)
            except BlockingIOError:
                return sent
    return None


def test_a_long_pipeline_is_served_to_its_end(stage: Stage) -> None:
    """Reading goes on when the queue has been worked off; each request is answered, in order."""
    stage.arm(one("slow-inside"), first=SILENT)
    with Client(stage.port) as client:
        client.socket.settimeout(LONG_MS / 1000)
        client.send(work(SILENT))
        client.socket.setblocking(False)
        rest = memoryview(b"".join(work(number) for number in range(1_000, 1_000 + REQUESTS)))
        answers = b""
        while answers.count(b"HTTP/1.1 200") < REQUESTS + 1:
            try:
                if rest:
                    rest = rest[client.socket.send(rest) :]
            except BlockingIOError:
                pass
            try:
                came = client.socket.recv(1 << 20)
            except BlockingIOError:
                stage.entries()
                continue
            assert came, "the router ended the connection"
            answers += came
    assert [entry.operation for entry in stage.of(Received)] == [SILENT, *range(1_000, 1_000 + REQUESTS)]


def test_large_requests_behind_a_silence_wait_in_the_kernel_too(stage: Stage) -> None:
    """What counts is the bytes of their bodies as well: a few of them are as much as one request may have."""
    stage.arm(one("silence-after"), first=SILENT)
    large = request(b'{"prompt": "' + b"x" * (MAX_WAITING_BYTES // 4) + b'"}')
    with Client(stage.port) as client:
        client.send(work(SILENT))
        stage.until(Received, 1)
        client.socket.setblocking(False)
        sent = _taken(client, stage, large)
        assert 4 * len(large) <= sent <= 6 * len(large)  # the kernel's buffers hold some of it
        stage.heal()


def _taken(client: Client, stage: Stage, data: bytes) -> int:
    """How many bytes of many copies were taken in before nothing moved any more for many turns of the router."""
    sent = standing = 0
    while standing < 200 and sent < 12 * len(data):
        try:
            sent += client.socket.send(memoryview(data)[sent % len(data) :])
            standing = 0
        except BlockingIOError:
            stage.entries()
            standing += 1
    return sent
