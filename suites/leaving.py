"""A caller that leaves while its operation is in flight."""

import asyncio
import socket
import struct
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from faults.vocabulary import Leaving

T = TypeVar("T")

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: close() sends RST


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """How a caller leaves: once it is `told` to. It has `left` when the kernel knows. `begun`: before that, some of
    its answer's content has come.
    """

    how: Leaving
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def says(self) -> str:
        """How it left, for reports."""
        return f"its caller left ({self.how})"

    async def begun_or(self, answered: asyncio.Future[Any], within_s: float) -> None:
        """The answer has begun to come, or is over, or that time is."""
        await _either(self.begun, answered, within_s)

    async def gone_or(self, answered: asyncio.Future[Any]) -> None:
        """The caller has left, or was answered before it could."""
        await _either(self.left, answered, None)


async def _either(event: asyncio.Event, answered: asyncio.Future[Any], within_s: float | None) -> None:
    happened = asyncio.ensure_future(event.wait())
    await asyncio.wait((happened, answered), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    happened.cancel()


async def until_told(waiting: Awaitable[T], leave: Leave, sock: socket.socket | None = None) -> T | None:
    """What comes of the waiting. When the caller is told to leave before, the waiting is cancelled, and there is None;
    but who only half-closes `sock` waits on.
    """
    answer = asyncio.ensure_future(waiting)
    told = asyncio.ensure_future(leave.told.wait())
    try:
        await asyncio.wait((answer, told), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done() and leave.how is Leaving.HALF_CLOSE and sock is not None:
            sock.shutdown(socket.SHUT_WR)
            leave.left.set()
            return await answer
        return await answer if answer.done() else None
    finally:
        for task in (answer, told):
            task.cancel()
        await asyncio.gather(answer, told, return_exceptions=True)


def close(sock: socket.socket, leave: Leave) -> None:
    """Leave by FIN or by RST, at once."""
    if leave.how is Leaving.RESET:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    sock.close()
    leave.left.set()
