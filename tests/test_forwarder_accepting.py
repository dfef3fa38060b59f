"""Callers that wait to be accepted are, however much else there is to do."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import pytest
import uvloop

from forwarder.accepting import Accepting
from forwarder.api.activity import Activity

CALLERS = 100
FEW_TURNS = 20


class Scarce(socket.socket):
    """A listening socket whose process has no file left, at first."""

    refusals = 2

    def accept(self) -> tuple[socket.socket, object]:
        """EMFILE, twice."""
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


@contextlib.contextmanager
def _queued(listener: socket.socket, callers: int) -> Iterator[None]:
    """So many callers in its queue."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(listener)
        listener.bind(("127.0.0.1", 0))
        listener.listen(callers)
        for _ in range(callers):
            stack.enter_context(socket.create_connection(listener.getsockname()))
        yield


async def _accepted(listener: socket.socket, callers: int, turns: int) -> int:
    """How many turns of the loop it took until that many had a protocol; no more are taken than `turns`."""
    made: list[asyncio.BaseTransport] = []

    class Protocol(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            made.append(transport)

    activity = Activity()
    accepting = Accepting(listener, backlog=callers, protocol=Protocol, activity=activity)
    taken = 0
    while (len(made) < callers or activity.busy) and taken < turns:
        await asyncio.sleep(0)
        taken += 1
    assert (len(made), activity.busy) == (callers, 0)
    accepting.close()
    for transport in made:
        transport.close()
    await asyncio.sleep(0)
    return taken


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_all_that_wait_are_accepted_in_one_go(new_loop: type[asyncio.AbstractEventLoop]) -> None:
    """Not one a turn of the loop, which takes as long as all that is ready in it."""
    with _queued(listener := socket.socket(), CALLERS), asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(_accepted(listener, CALLERS, FEW_TURNS)) < FEW_TURNS


def test_who_comes_while_no_file_is_left_is_accepted_later() -> None:
    """It stays in the queue, and the loop does not spin meanwhile."""
    with _queued(listener := Scarce(), 2), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(_accepted(listener, 2, 10_000_000)) > FEW_TURNS
        assert listener.refusals == 0
