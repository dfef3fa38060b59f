"""Connections and tasks: nothing leaks, whatever ends an operation, on plain asyncio and on uvloop."""

import asyncio
import gc
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from forwarder import Forwarder, Kind, MayHaveRunError, NotExecutedError, RejectedError, ResultLostError, Settings
from tests.raw_router import NO_WORKERS, OK, SILENCE, Act, RawRouter, head, reply

REQUEST = {"prompt": [1]}
LARGE = 32 * 1024 * 1024
PATIENT = Settings(connect_timeout_ms=60_000, read_timeout_ms=60_000)
Scene = Callable[[], Coroutine[Any, Any, None]]
on_both_loops = pytest.mark.parametrize(
    "new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def _played(new_loop: Callable[[], asyncio.AbstractEventLoop], scene: Scene) -> None:
    """Run it on a loop of its own that is closed at once; an unclosed transport fails the test as a warning."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene())
    gc.collect()


@on_both_loops
def test_closing_leaves_no_socket(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """The router sees every connection end, also those of the pool; closing twice is closing once."""

    async def scene() -> None:
        async with RawRouter() as router:
            forwarder = Forwarder([router.url])
            await forwarder.start()
            await asyncio.gather(*(forwarder.complete(REQUEST) for _ in range(5)))
            assert router.open_now == router.connections
            await forwarder.close()
            await forwarder.close()
            await router.until_open(0)

    _played(new_loop, scene)


@on_both_loops
def test_closing_ends_what_is_in_flight_with_what_is_known_of_it(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """Sent and waiting: may have run. Inside the body: executed. Waiting for a free connection: not executed."""

    async def scene() -> None:
        sent = asyncio.Event()  # more than all buffers hold: when it is sent, much of it was read
        started = head(200, "Content-Type: application/json", f"Content-Length: {LARGE + 1}") + b" " * LARGE
        async with RawRouter([Act(sends=started, then="hold", sent=sent), SILENCE]) as router:
            forwarder = Forwarder([router.url], settings=Settings(max_connections=2))
            await forwarder.start()
            calls = [asyncio.create_task(forwarder.complete(REQUEST))]
            await sent.wait()
            calls += [asyncio.create_task(forwarder.complete(REQUEST)) for _ in range(2)]
            await router.until(2)
            async with asyncio.timeout(10):
                await forwarder.close()
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [ResultLostError, MayHaveRunError, NotExecutedError]
            assert all("the forwarder was closed" in str(outcome) for outcome in outcomes)
            assert (router.requests, forwarder.in_flight) == (2, 0)
            await router.until_open(0)

    _played(new_loop, scene)


@on_both_loops
def test_closing_does_not_wait_for_a_connect(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """A connect that would take a minute ends with the forwarder, and was not executed."""

    async def scene() -> None:
        with socket.socket() as full, socket.socket() as filler:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            filler.connect(full.getsockname())
            forwarder = Forwarder([f"http://127.0.0.1:{full.getsockname()[1]}"], settings=PATIENT)
            await forwarder.start()
            call = asyncio.create_task(forwarder.complete(REQUEST))
            for _ in range(5):
                await asyncio.sleep(0)  # the connect is under way; if not, the outcome is the same
            async with asyncio.timeout(10):
                await forwarder.close()
            with pytest.raises(NotExecutedError, match="the forwarder was closed"):
                await call

    _played(new_loop, scene)


@on_both_loops
def test_a_cancelled_call_gives_its_connection_back(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """With a pool of one, a second call would hang for ever if the first had kept it; nothing is sent again."""

    async def scene() -> None:
        async with (
            RawRouter([SILENCE]) as router,
            Forwarder([router.url], settings=Settings(max_connections=1)) as forwarder,
        ):
            call = asyncio.create_task(forwarder.complete(REQUEST))
            waiter = asyncio.create_task(forwarder.complete(REQUEST))
            await router.until(1)
            waiter.cancel()
            call.cancel()
            for task in (call, waiter):
                with pytest.raises(asyncio.CancelledError):
                    await task
            await router.until_open(0)
            assert (router.requests, forwarder.in_flight) == (1, 0)
            await forwarder.complete(REQUEST)
            assert (router.requests, router.connections) == (2, 2)

    _played(new_loop, scene)


async def test_a_forwarder_that_is_closed_between_two_attempts_sends_nothing_more() -> None:
    """The call ends with what the first attempt proved."""
    async with RawRouter([NO_WORKERS]) as router:
        forwarder = Forwarder([router.url])
        await forwarder.start()

        async def closed_meanwhile() -> bool:
            await forwarder.close()
            return False

        with pytest.raises(NotExecutedError) as caught:
            await forwarder.complete(REQUEST, abandoned=closed_meanwhile)
        assert (router.requests, caught.value.attempts) == (1, 1)


async def test_a_router_that_does_not_read_a_large_request_does_not_hold_it_for_ever() -> None:
    """aiohttp has no timer for writing; ours ends it, and it may have run."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with Forwarder([url], settings=Settings(read_timeout_ms=100)) as forwarder:
            with pytest.raises(MayHaveRunError) as caught:
                async with asyncio.timeout(10):
                    await forwarder.complete({"prompt": "x" * 20_000_000})
    assert (caught.value.evidence.kind, caught.value.attempts) == (Kind.SILENCE, 1)


async def test_an_early_answer_to_a_request_that_is_not_read_is_an_answer() -> None:
    """The unread rest holds up neither the caller nor, with a pool of one, the next request."""
    early = reply(413, b"{}", "Connection: close")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(early)
        await writer.drain()
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    settings = Settings(max_connections=1, read_timeout_ms=30_000)
    async with server, Forwarder([url], settings=settings) as forwarder:
        for _ in range(2):
            with pytest.raises(RejectedError, match="413"):
                await forwarder.complete({"prompt": "x" * 20_000_000})
        gone.set()


async def test_an_idle_connection_is_dropped_before_the_router_would_drop_it() -> None:
    """Within the keep-alive it is reused, after it there is a new one."""
    for keep_alive_ms, connections in ((60_000, 1), (10, 2)):
        settings = Settings(keep_alive_ms=keep_alive_ms)
        async with RawRouter() as router, Forwarder([router.url], settings=settings) as forwarder:
            await forwarder.complete(REQUEST)
            await asyncio.sleep(0.05)  # the fault is the delay
            await forwarder.complete(REQUEST)
            assert router.connections == connections


async def test_a_forwarder_is_started_once_and_used_between_start_and_close() -> None:
    """The message says what to do."""
    forwarder = Forwarder(["http://127.0.0.1:1"])
    with pytest.raises(RuntimeError, match="not started; use `async with"):
        await forwarder.complete(REQUEST)
    async with forwarder:
        with pytest.raises(RuntimeError, match="started already"):
            await forwarder.start()
    with pytest.raises(RuntimeError, match="not started"):
        await forwarder.complete(REQUEST)


async def test_plain_http_builds_no_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Creating and closing a forwarder is cheap: reading the system's certificates would take longer than all else."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a TLS context was built")

    monkeypatch.setattr(ssl, "SSLContext", forbidden)
    monkeypatch.setattr(ssl, "create_default_context", forbidden)
    async with RawRouter([OK]) as router, Forwarder([router.url]) as forwarder:
        await forwarder.complete(REQUEST)


@pytest.mark.parametrize(
    "wrong", [{"max_connections": -1}, {"connect_timeout_ms": 0}, {"read_timeout_ms": -5}, {"keep_alive_ms": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    """The message names the setting, its value and what was expected."""
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} is {next(iter(wrong.values()))}; expected"):
        Settings(**wrong)  # type: ignore[arg-type]
