"""The API server on the loop of a test, before a router of the test's own, and a raw caller."""

import argparse
import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from forwarder import Forwarder, Settings
from forwarder.api.app import app_of
from forwarder.api.metrics import Metrics
from forwarder.api.options import add_to, read
from forwarder.api.service import Service
from forwarder.api.starting import service_of
from forwarder.futures.clock import ManualClock
from forwarder.server import Server, server_of
from tests.raw_router import reply

PROTOBUF = "application/x-protobuf"
START_MS = 1_000_000
SAMPLE = {
    "prompt": {"chunks": [{"tokens": [3, 5, 6], "type": "encoded_text"}]},
    "sampling_params": {"max_tokens": 8},
    "type": "sample",
}
COMPLETION = json.dumps(
    {
        "id": "c",
        "object": "text_completion",
        "choices": [
            {
                "index": 0,
                "text": "x",
                "finish_reason": "stop",
                "token_ids": [7, 8],
                "logprobs": {"tokens": ["a", "b"], "token_logprobs": [-0.5, -0.25]},
            }
        ],
    }
).encode()
SAMPLED = reply(200, COMPLETION)


@dataclass(slots=True, kw_only=True)
class Call:
    """One connection with one request on its way: its answer may be read, or its caller may leave."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> "Answer":
        """Read it whole. Raises IncompleteReadError where there is none."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        start, *fields = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in fields if line)
        body = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(status=int(start.split()[1]), headers=headers, body=body)

    async def close(self) -> None:
        """With FIN."""
        self.writer.close()
        await self.writer.wait_closed()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One whole answer."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes

    @property
    def json(self) -> Any:
        """Its body, which is JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Calls the server at this address, each request on a connection of its own; `close` ends them all."""

    address: tuple[str, int]
    calls: list[Call] = field(default_factory=list)

    async def close(self) -> None:
        """End every connection, and wait until it has ended."""
        for call in self.calls:
            call.writer.transport.abort()
            with suppress(ConnectionError):
                await call.writer.wait_closed()

    async def open(self, data: bytes = b"", *, receive_buffer: int = 0) -> Call:
        """A connection on which these bytes were sent. receive_buffer: of its socket, in bytes (0: the kernel's)."""
        connected = socket.socket()
        if receive_buffer:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connected.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connected, self.address)
        reader, writer = await asyncio.open_connection(sock=connected)
        writer.write(data)
        call = Call(reader=reader, writer=writer)
        self.calls.append(call)
        return call

    async def get(self, path: str) -> Answer:
        """GET it."""
        return await self._ended(await self.open(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()))

    async def post(self, path: str, body: object, *fields: str) -> Answer:
        """POST this to a path under /api/v1/, or to one that begins with /."""
        return await self._ended(await self.open(request(path, body, *fields)))

    async def poll(self, request_id: str, *, accept: str = PROTOBUF, receive_buffer: int = 0) -> Call:
        """A poll on its way."""
        asked = request("retrieve_future", {"request_id": request_id}, f"Accept: {accept}")
        return await self.open(asked, receive_buffer=receive_buffer)

    async def session(self) -> str:
        """A new sampling session, in a session of its own."""
        session = (await self.post("create_session", {})).json["session_id"]
        asked = {"session_id": session, "base_model": "m"}
        return str((await self.post("create_sampling_session", asked)).json["sampling_session_id"])

    async def submit(self, sampling_session_id: str, seq_id: int = 0, **changes: object) -> str:
        """The request_id of a new operation."""
        asked = {**SAMPLE, "sampling_session_id": sampling_session_id, "seq_id": seq_id, **changes}
        answer = await self.post("asample", asked)
        assert answer.status == 200, answer
        return str(answer.json["request_id"])

    async def settled(self, advance_ms: int | None = None) -> Any:
        """What /test/settle says, or /test/advance."""
        if advance_ms is None:
            return (await self.post("/test/settle", {})).json
        return (await self.post("/test/advance", {"ms": advance_ms})).json

    async def _ended(self, call: Call) -> Answer:
        answer = await call.answer()
        await call.close()
        return answer


def request(path: str, body: object, *fields: str) -> bytes:
    """The bytes of a POST; a body that is no bytes is written as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    target = path if path.startswith("/") else f"/api/v1/{path}"
    head = "\r\n".join((f"POST {target} HTTP/1.1", "Host: x", f"Content-Length: {len(data)}", *fields, "", ""))
    return head.encode() + data


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving(Caller):
    """A server on the loop of the test, and what it is made of."""

    service: Service
    server: Server
    clock: ManualClock


def options_of(*flags: str) -> argparse.Namespace:
    """What the command would make of these."""
    parser = argparse.ArgumentParser()
    add_to(parser)
    return read(parser, flags, {})


@asynccontextmanager
async def serving(router_url: str, *flags: str, settings: Settings | None = None) -> AsyncIterator[Serving]:
    """A server with the test's clock, and these flags; settings: its forwarder's, in place of what the flags say."""
    options = options_of("--router", router_url, *flags)
    clock, metrics = ManualClock(START_MS), Metrics()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = settings or Settings(read_timeout_ms=options.read_timeout_ms)
        async with Forwarder(options.router, settings=settings, on_retry=metrics.retry) as forwarder:
            service = await service_of(options, forwarder, metrics, clock)
            ready = asyncio.Event()

            def listening() -> bool:
                ready.set()
                return True

            server = server_of(
                app_of(service, clock),
                service,
                backlog=128,
                keep_alive_s=options.keep_alive_s,
                access_log=False,
                ready=listening,
            )
            running = asyncio.ensure_future(server.serve(sockets=[listener]))
            await ready.wait()
            try:
                called = Serving(address=listener.getsockname(), service=service, server=server, clock=clock)
                yield called
            finally:
                await called.close()
                service.ending.hasten()
                server.should_exit = server.force_exit = True
                await running


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(Caller):
    """A server in a process of its own."""

    process: asyncio.subprocess.Process

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send it."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code. Raises TimeoutError."""
        return await asyncio.wait_for(self.process.wait(), 20)


@asynccontextmanager
async def running(
    *flags: str, stderr: int = asyncio.subprocess.DEVNULL, module: str = "forwarder"
) -> AsyncIterator[Process]:
    """One that listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, "--listen", "127.0.0.1:0", *flags,
        stdout=asyncio.subprocess.PIPE, stderr=stderr,
    )  # fmt: skip
    assert process.stdout is not None
    line = json.loads(await process.stdout.readline())
    server = Process(address=(line["host"], line["port"]), process=process)
    try:
        yield server
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await server.close()
