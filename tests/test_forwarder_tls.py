"""TLS: a failed handshake comes before the request; a client certificate that is demanded under TLS 1.3 does not."""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trustme
import uvloop

from forwarder import Forwarder, Kind, MayHaveRunError, NotExecutedError, Settings
from tests.raw_router import OK

REQUEST = {"prompt": [1]}
REQUESTS = 50
AUTHORITY = trustme.CA()
SERVER = AUTHORITY.issue_cert("127.0.0.1")
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


def _server_context(*, demands_certificate: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.configure_trust(context)
    SERVER.configure_cert(context)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if demands_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


@asynccontextmanager
async def _router(answer: bytes, context: ssl.SSLContext | None = None, *, hold: bool = False) -> AsyncIterator[str]:
    """Sends `answer` as soon as bytes arrive, whatever they are; holds the connection, or closes it."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await reader.read(65_536)
            writer.write(answer)
            while hold and await reader.read(65_536):
                pass
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


FAILED_HANDSHAKES = {
    "an alert": (b"\x15\x03\x03\x00\x02\x02\x28", False, {Kind.TLS}),
    "plain text": (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, {Kind.TLS}),
    "closed": (b"", False, {Kind.CONNECT, Kind.TLS}),
    "stalled": (b"", True, {Kind.CONNECT_TIMEOUT}),
}


@pytest.mark.parametrize("new_loop", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("case", FAILED_HANDSHAKES)
def test_a_failed_handshake_was_not_executed(case: str, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """No byte of the request is written before the handshake is complete."""
    answer, hold, kinds = FAILED_HANDSHAKES[case]
    settings = Settings(connect_timeout_ms=200 if hold else 20_000, tls=_trusting())

    async def scene() -> None:
        async with _router(answer, hold=hold) as url, Forwarder([url], settings=settings) as forwarder:
            with pytest.raises(NotExecutedError) as caught:
                await forwarder.complete(REQUEST)
            assert {failure.kind for failure in caught.value.failures} <= kinds
            assert caught.value.attempts == 2
            assert "EPERM" not in str(caught.value)  # the number of OpenSSL's errors is no errno

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene())


async def test_a_certificate_that_is_not_trusted_was_not_executed() -> None:
    """With the system's certificates, that of this test is unknown; with its own it is served."""
    async with _router(OK, _server_context(), hold=True) as url:
        async with Forwarder([url]) as forwarder:
            with pytest.raises(NotExecutedError) as caught:
                await forwarder.complete(REQUEST)
            assert caught.value.evidence.kind is Kind.TLS
        async with Forwarder([url], settings=Settings(tls=_trusting())) as forwarder:
            await forwarder.complete(REQUEST)


def test_session_tickets_behind_a_handshake_do_not_cost_a_new_connection() -> None:
    """A TLS 1.3 server sends them unasked (RFC 8446 s4.6.1): they may wait on a connection that is handed out."""
    closing = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)

    def serve(listener: socket.socket) -> None:
        context = _server_context()
        for _ in range(REQUESTS):
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True) as tls:
                if tls.recv(65_536):
                    tls.sendall(closing)

    async def scene(url: str) -> None:
        async with Forwarder([url], settings=Settings(tls=_trusting())) as forwarder:
            for _ in range(REQUESTS):
                await forwarder.complete(REQUEST)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        asyncio.run(asyncio.wait_for(scene(f"https://127.0.0.1:{listener.getsockname()[1]}"), 10))
        server.join()


@pytest.mark.parametrize("new_loop", LOOPS, ids=["asyncio", "uvloop"])
def test_a_client_certificate_that_is_demanded_under_tls_1_3_proves_nothing(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """The handshake looks complete to the client, and the request is on its way when the refusal comes."""
    context = _server_context(demands_certificate=True)

    async def scene() -> None:
        async with _router(OK, context) as url, Forwarder([url], settings=Settings(tls=_trusting())) as forwarder:
            with pytest.raises(MayHaveRunError) as caught:
                await forwarder.complete(REQUEST)
            assert caught.value.evidence.kind in (Kind.RESET, Kind.CLOSED)
            assert caught.value.attempts == 1

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene())
