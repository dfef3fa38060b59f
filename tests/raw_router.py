"""A router for the forwarder's tests: one asyncio socket server that does to each request what its script says.

It is not the fake router: the forwarder is tested without the instrument that is going to judge it.
"""

import asyncio
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import orjson


def head(status: int, *fields: str) -> bytes:
    """A status line and header section."""
    return "\r\n".join((f"HTTP/1.1 {status} Reason", *fields, "", "")).encode()


def reply(status: int, body: bytes, *fields: str, type_: str = "application/json") -> bytes:
    """A whole answer with a Content-Length."""
    return head(status, f"Content-Type: {type_}", f"Content-Length: {len(body)}", *fields) + body


def result(**changes: object) -> bytes:
    """The body of a whole result with one choice, or the same with parts of its choice changed."""
    choice = {"index": 0, "text": "four", "finish_reason": "stop", "token_ids": [1, 2], "logprobs": None} | changes
    return orjson.dumps({"id": "cmpl-1", "object": "text_completion", "choices": [choice]})


OK = reply(200, result())
NO_WORKERS = reply(503, b'{"error":{"message":"No available workers"}}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What happens to one request, once it was read whole: wait for the gate, send, set `sent` when the kernel has
    it all, then end: "keep" the connection, "fin" or "reset" it, or "hold" it open without a word.
    """

    sends: bytes = b""
    then: str = "keep"
    gate: asyncio.Event | None = None
    sent: asyncio.Event | None = None


SILENCE = Act(then="hold")
FIN = Act(then="fin")
RESET = Act(then="reset")


@dataclass(slots=True)
class RawRouter:
    """Plays its script, one act a request in the order of arrival, and answers OK after its end. It counts
    connections, and keeps every request that was read whole.
    """

    script: Sequence[Act | bytes] = ()
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    open_now: int = 0
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def requests(self) -> int:
        """Requests that were read whole."""
        return len(self.bodies)

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def until(self, requests: int) -> None:
        """Wait until so many requests have arrived. Raises TimeoutError when they do not."""
        async with asyncio.timeout(30), self.arrived:
            await self.arrived.wait_for(lambda: self.requests >= requests)

    async def until_open(self, connections: int) -> None:
        """Wait until exactly so many connections are open. Raises TimeoutError when they do not get there."""
        async with asyncio.timeout(30), self.arrived:
            await self.arrived.wait_for(lambda: self.open_now == connections)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        await self._counted(1)
        writer.transport.set_write_buffer_limits(0)
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # it ends here: asyncio's streams log a handler that is cancelled
        finally:
            writer.close()
            self._tasks.discard(task)
            await self._counted(0)

    async def _counted(self, new: int) -> None:
        async with self.arrived:
            self.connections += new
            self.open_now += 1 if new else -1
            self.arrived.notify_all()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        start = await reader.readuntil(b"\r\n\r\n")
        length = int(start.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        at = self.requests
        async with self.arrived:
            self.heads.append(start)
            self.bodies.append(body)
            self.arrived.notify_all()
        act = self.script[at] if at < len(self.script) else OK
        if isinstance(act, bytes):
            act = Act(sends=act)
        if act.gate is not None:
            await act.gate.wait()
        writer.write(act.sends)
        await writer.drain()
        if act.sent is not None:
            act.sent.set()
        return await _ended(act.then, reader, writer)


async def _ended(how: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    match how:
        case "keep":
            return True
        case "fin":
            writer.write_eof()
            await reader.read()
        case "reset":
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case "hold":
            await reader.read()
        case _:
            raise ValueError(f"ending {how!r}; expected keep, fin, reset or hold")
    return False
