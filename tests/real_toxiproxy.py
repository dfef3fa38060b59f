"""A real Toxiproxy for tests, driven from an event loop of its own, and raw sockets on both sides of it."""

import asyncio
import contextlib
import os
import select
import socket
import struct
import threading
from collections.abc import Coroutine, Generator, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest

from faults.toxics import Toxic
from suites.processes import Supervisor
from suites.toxiproxy.answers import Proxy
from suites.toxiproxy.building import Builder, obtain
from suites.toxiproxy.client import Laid
from suites.toxiproxy.errors import MissingToxiproxyError
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import Source

T = TypeVar("T")
DEADLINE_S = 20
LONG_MS = 600_000  # a delay that no test lives to see: what it holds comes only when it is lifted
EOF, RESET = "EOF", "RST"


class Wire:
    """One connection through one proxy: `near` is the caller's socket, `far` the router's."""

    def __init__(self, real: "RealToxiproxy", proxy: Proxy) -> None:
        self.real = real
        self.proxy = proxy
        self.near = real.dial(proxy)
        self.far = real.accept()

    def pass_a_byte(self) -> "Wire":
        """In each direction. Until then Toxiproxy may not have set up what passes bytes on, and what is laid over the
        connection may be there first.
        """
        for one, other in ((self.near, self.far), (self.far, self.near)):
            one.sendall(b"?")
            assert receive(other, 1) == b"?"
        return self

    def lay(self, toxic: Toxic, *, name: str | None = None) -> Laid:
        """Lay it, and return when Toxiproxy says that it lies."""
        return self.real.lay(self.proxy, toxic, name=name)


class RealToxiproxy:
    """A server, a listener that plays the router, and the loop on which the client's methods are called."""

    def __init__(self, server: ToxiproxyServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.loop = loop
        self.open = contextlib.ExitStack()
        self.router = self.open.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.router.settimeout(DEADLINE_S)
        self._sockets = self.open.enter_context(contextlib.ExitStack())

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begin it, and do not wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What it returns or raises."""
        return self.start(work).result(DEADLINE_S)

    def proxy(self, *toxics: Toxic, upstream: tuple[str, int] | None = None) -> Proxy:
        """A new proxy to the router, or to that upstream, under these toxics."""
        proxy = self.run(self.server.add_proxy(upstream or self.router.getsockname()))
        for toxic in toxics:
            self.lay(proxy, toxic)
        return proxy

    def wire(self, *toxics: Toxic) -> Wire:
        """A connection through a new proxy that was under these toxics before."""
        return Wire(self, self.proxy(*toxics))

    def open_wire(self, *toxics: Toxic) -> Wire:
        """The same, once bytes have passed both ways."""
        return self.wire(*toxics).pass_a_byte()

    def lay(self, proxy: Proxy, toxic: Toxic, *, name: str | None = None) -> Laid:
        """Lay a toxic over it."""
        return self.run(self.server.client.lay(proxy, toxic, name=name))

    def lift(self, laid: Laid) -> None:
        """Take it away."""
        self.run(self.server.client.lift(laid))

    def dial(self, proxy: Proxy) -> socket.socket:
        """A new connection to a proxy."""
        return self.keep(socket.create_connection(proxy.listen, DEADLINE_S))

    def accept(self) -> socket.socket:
        """The next connection that reaches the router."""
        far, _ = self.router.accept()
        far.settimeout(DEADLINE_S)
        return self.keep(far)

    def keep(self, one: socket.socket) -> socket.socket:
        """Close it at the end of the test."""
        return self._sockets.enter_context(one)

    def close_sockets(self) -> None:
        """Those of the last test."""
        self._sockets.close()


def read_end(one: socket.socket) -> tuple[bytes, str]:
    """All that still comes, and how it ends."""
    came = b""
    while True:
        try:
            piece = one.recv(1 << 20)
        except ConnectionResetError:
            return came, RESET
        if not piece:
            return came, EOF
        came += piece


def read_now(one: socket.socket) -> bytes | str | None:
    """What can be read without waiting: bytes, EOF, RESET, or None for nothing yet."""
    one.setblocking(False)
    try:
        return one.recv(1 << 20) or EOF
    except ConnectionResetError:
        return RESET
    except BlockingIOError:
        return None
    finally:
        one.settimeout(DEADLINE_S)


def receive(one: socket.socket, size: int) -> bytes:
    """Exactly so many bytes."""
    came = b""
    while len(came) < size:
        piece = one.recv(size - len(came))
        assert piece, f"EOF after {len(came)} of {size} bytes"
        came += piece
    return came


def reset(one: socket.socket) -> None:
    """End it by an RST."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


def pump_until_blocked(one: socket.socket) -> None:
    """Write until nobody takes more."""
    one.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while select.select([], [one], [], 0.1)[1]:
            while one.send(bytes(1 << 16)):
                pass
    if select.select([], [one], [], 0.1)[1]:
        pump_until_blocked(one)
    one.settimeout(DEADLINE_S)


def required() -> bool:
    """Whether nothing may be missing, so that a server is built where there is none."""
    return bool(os.environ.get("RETRYPROOF_NO_SKIP"))


@contextlib.contextmanager
def real_toxiproxy() -> Iterator[RealToxiproxy]:
    """A server for as long as this is not left; a skip says what to do where there is none."""
    with _loop() as loop:
        going = _serve(loop)
        try:
            real = next(going)
        except MissingToxiproxyError as error:
            if required():
                raise
            pytest.skip(str(error))
        try:
            yield real
            real.open.close()
        finally:
            going.close()


@contextlib.contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="toxiproxy of the tests")
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _serve(loop: asyncio.AbstractEventLoop) -> Generator[RealToxiproxy]:
    ready: Future[ToxiproxyServer] = Future()
    leave = asyncio.Event()

    async def serve() -> None:
        async with Supervisor() as supervisor, ToxiproxyServer.open(supervisor, await _source(supervisor)) as server:
            ready.set_result(server)
            await leave.wait()

    serving = asyncio.run_coroutine_threadsafe(serve(), loop)

    def give_up(done: "Future[None]") -> None:
        if not ready.done():
            ready.set_exception(done.exception() or AssertionError("it ended before it served"))

    serving.add_done_callback(give_up)
    try:
        yield RealToxiproxy(ready.result(), loop)
    finally:
        loop.call_soon_threadsafe(leave.set)
        serving.result(DEADLINE_S)


async def _source(supervisor: Supervisor) -> Source:
    return await obtain(Builder(supervisor, stage=print, line=lambda _: None, fetches_go=required()))
