"""A poll that its caller leaves: what its server's kernel sees of each way to leave."""

import array
import asyncio
import contextlib
import fcntl
import socket
import termios
from collections.abc import AsyncIterator

import pytest

from suites.endpoint import Endpoint
from suites.history import Arrival
from suites.tinker.answers import Lost, NotYet
from suites.tinker.open_call import Departure
from suites.tinker.poll import Poll, open_poll, open_submit
from suites.tinker.vanishing import cannot_vanish
from suites.tinker.wire import Sampling

NOT_YET = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 2\r\n\r\n{}"
LONG_MS = 20_000


@contextlib.asynccontextmanager
async def polled() -> AsyncIterator[tuple[Poll, socket.socket]]:
    """A poll whose request has been read by its server, and the server's connection."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        with await open_poll(Endpoint(address=listener.getsockname()), "7") as poll:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            connection.setblocking(False)
            with connection:
                await _read_until(connection, b'"allow_metadata_only": true}')
                yield poll, connection


async def _read_until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    while not received.endswith(end):
        received += await asyncio.get_running_loop().sock_recv(connection, 65536)
    return received


def _unacknowledged(connection: socket.socket) -> int:
    """Bytes in its send queue that its peer has not acknowledged (SIOCOUTQ, tcp(7))."""
    count = array.array("i", [0])
    fcntl.ioctl(connection, termios.TIOCOUTQ, count)
    return count[0]


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("how", [Departure.FIN, Departure.HALF_CLOSE])
async def test_a_poll_left_by_fin_or_half_close_shows_its_server_an_end(how: Departure, answered: bool) -> None:
    """EOF and no reset, though the answer had come and was not read."""
    async with polled() as (poll, connection):
        if answered:
            connection.sendall(NOT_YET)
            assert await poll.arrived(LONG_MS)
        poll.leave(how)
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


@pytest.mark.parametrize("answered", [False, True])
async def test_a_poll_left_by_reset_shows_its_server_a_reset(answered: bool) -> None:
    """ECONNRESET, whether or not the answer had come."""
    async with polled() as (poll, connection):
        if answered:
            connection.sendall(NOT_YET)
            assert await poll.arrived(LONG_MS)
        poll.leave(Departure.RESET)
        with pytest.raises(ConnectionResetError):
            await asyncio.get_running_loop().sock_recv(connection, 1)


async def test_a_half_closed_poll_still_reads_its_answer_and_one_that_left_has_none() -> None:
    """Its server has seen EOF before it answered."""
    async with polled() as (poll, connection):
        poll.leave(Departure.HALF_CLOSE)
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
        connection.sendall(NOT_YET)
        assert isinstance(await poll.answer(LONG_MS), NotYet)
    async with polled() as (poll, _):
        poll.leave(Departure.FIN)
        answer = await poll.answer(LONG_MS)
        assert isinstance(answer, Lost)
        assert answer.reply.arrival is Arrival.LEFT
        with pytest.raises(ValueError, match=r"leave\(.*'reset'.*left by.*'fin'"):
            poll.leave(Departure.RESET)


async def test_a_server_of_a_caller_that_vanished_sees_nothing_and_gets_nothing_acknowledged() -> None:
    """No FIN, no reset, and what is sent stays in the send queue, until the call is closed: then a reset."""
    if (why := cannot_vanish()) is not None:
        async with polled() as (poll, _):
            with pytest.raises(PermissionError):
                poll.leave(Departure.VANISH)
        assert "CAP_NET_ADMIN" in why
        return
    async with polled() as (poll, connection):
        poll.leave(Departure.VANISH)
        connection.sendall(NOT_YET)
        assert not await poll.arrived(20)
        assert _unacknowledged(connection) == len(NOT_YET)
        with pytest.raises(BlockingIOError):
            connection.recv(1)
        poll.close()
        with pytest.raises(ConnectionResetError):
            await asyncio.get_running_loop().sock_recv(connection, 1)


async def test_an_answer_that_arrived_is_read_later_and_one_that_has_not_may_be_asked_for_again() -> None:
    """It lies whole in the buffer, a part of it does not count, and asking has lost no byte of it."""
    async with polled() as (poll, connection):
        connection.sendall(NOT_YET[:-1])
        assert not await poll.arrived(5)
        assert await poll.answer(5) is None
        connection.sendall(NOT_YET[-1:])
        answer = await poll.answer(LONG_MS)
        assert isinstance(answer, NotYet)
        assert (answer.reply.status, answer.reply.body) == (408, b"{}")


async def test_a_submit_that_is_left_at_once_has_still_been_sent_whole() -> None:
    """Its server reads all of it, then the end: the reply is lost, the request is not."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        sampling = Sampling(sampling_session_id="s", seq_id=3, prompt=(1, 2))
        with await open_submit(Endpoint(address=listener.getsockname()), sampling) as call:
            call.leave(Departure.FIN)
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
        with connection:
            connection.setblocking(False)
            received = await _read_until(connection, b'"type": "sample"}')
            assert b"POST /api/v1/asample HTTP/1.1" in received
            assert b'"sampling_session_id": "s", "seq_id": 3' in received
            assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""


async def test_a_poll_of_nobody_says_that_there_was_no_connection() -> None:
    """Nothing is raised for it."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with await open_poll(Endpoint(address=unused.getsockname()), "7") as poll:
            answer = await poll.answer(LONG_MS)
    assert isinstance(answer, Lost)
    assert answer.reply.says.startswith("no connection")
