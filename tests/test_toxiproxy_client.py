"""Whatever answers where Toxiproxy was expected, one typed error says what it was; no call waits for ever."""

import asyncio
import json
import threading

import pytest

from suites.processes import Supervisor
from suites.side_thread import on_a_thread
from suites.toxiproxy import api as api_module
from suites.toxiproxy.answers import address_of
from suites.toxiproxy.client import ToxiproxyClient
from suites.toxiproxy.errors import (
    NoAnswerError,
    NotToxiproxyError,
    RefusedError,
    ToxiproxyError,
    UnknownNameError,
    UnreachableError,
)
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import Standing
from suites.way import Address
from tests.toxiproxy_api import PROXY, answering, http


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (
            http(200, "<html>hello</html>"),
            NotToxiproxyError,
            r"answered 200 '<html>hello</html>'; expected Toxi.*API",
        ),
        (http(200, "{}"), NotToxiproxyError, r"answered '{}'"),
        (http(200, "[1]"), NotToxiproxyError, r"answered '\[1\]'"),
        (http(200, '{"version": 2}'), NotToxiproxyError, r"answered \"{'version': 2}\""),
        (http(200, '{"version": "1.2.1"}'), NotToxiproxyError, r"has version '1.2.1'; expected 2.x"),
        (http(200, '{"version": "3.0.0"}'), NotToxiproxyError, r"has version '3.0.0'; expected 2.x"),
        (http(200, "x" * 500), NotToxiproxyError, r"answered 200 'x{120}\.\.\.'"),
        (http(302, "", more="Location: http://127.0.0.1:9/\r\n"), NotToxiproxyError, r"answered 302 ''; expected"),
        (http(404, "no such page"), NotToxiproxyError, r"answered 404 'no such page'"),
        (http(404, '{"error": "proxy not found"}'), UnknownNameError, r"refused /version: proxy not found"),
        (http(409, '{"error": "proxy already exists"}'), RefusedError, r"refused /version: proxy already exists"),
        (http(400, '{"error": "invalid toxic type"}'), RefusedError, r"refused /version: invalid toxic type"),
        (http(500, '{"error": "address in use"}'), RefusedError, r"refused /version: address in use"),
        (http(503, "<html>busy</html>"), NotToxiproxyError, r"answered 503 '<html>busy</html>'"),
        (http(200, "[" * 100_000), NotToxiproxyError, r"answered 200 '\[{120}\.\.\.'"),
        (http(503, ""), NoAnswerError, r"did not answer /version in time"),
        (b"x" * 500 + b"\r\n", NotToxiproxyError, r"as Toxiproxy does: x+ \[\.\.\.\] x+$"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NotToxiproxyError, r"does not speak HTTP as Toxiproxy does: .*SSH-2.0"),
        (b"", UnreachableError, r"cannot be reached: Remote end closed connection"),
        (http(200, "no gzip", more="Content-Encoding: gzip\r\n"), NotToxiproxyError, r"answered what cannot be read"),
        (b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", NotToxiproxyError, r"cannot be read"),
        (
            b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{}",
            NotToxiproxyError,
            r"cannot be read \(IncompleteRead|answered '{}'",
        ),
    ],
)
async def test_an_answer_that_is_not_toxiproxys_is_one_error(
    answer: bytes, error: type[ToxiproxyError], says: str
) -> None:
    """It quotes what came, and says what was expected."""
    async with answering(answer) as address:
        with pytest.raises(error, match=says):
            await ToxiproxyClient(address).version()


async def test_a_named_one_that_does_not_answer_is_said_with_what_to_do() -> None:
    """As of one that cannot be reached."""
    async with answering(http(503, "")) as (host, port), Supervisor() as supervisor:
        says = "answer /version in time; expected the one that TOXIPROXY_URL names: start it, or unset TOXIPROXY_URL"
        with pytest.raises(NoAnswerError, match=says):
            async with ToxiproxyServer.open(supervisor, Standing(url=f"http://{host}:{port}")):
                pytest.fail("it is no Toxiproxy")


async def test_an_answer_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is bounded, whatever it says of it."""
    monkeypatch.setattr(api_module, "LARGEST_ANSWER_BYTES", 1_000)
    async with answering(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(2_000)) as address:
        client = ToxiproxyClient(address)
        with pytest.raises(NotToxiproxyError, match="answered with more than 1000 bytes; expected Toxiproxy's API"):
            await client.version()
        with pytest.raises(NotToxiproxyError, match=r"more than 1000 bytes; it counts every proxy .*: restart it"):
            await client.lost(PROXY)


async def test_an_answer_that_stalls_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its head has come, and the rest never does."""
    monkeypatch.setattr(api_module, "_BOUNDED", {**api_module._BOUNDED, "timeout": 0.05})
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{}")
        await over.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        with pytest.raises(NoAnswerError, match="did not end it"):
            await ToxiproxyClient(server.sockets[0].getsockname()).version()
    finally:
        over.set()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:" + "9" * 5000, "127.0.0.1", "h:x"])
async def test_a_proxy_that_listens_nowhere_is_not_toxiproxys(listen: str) -> None:
    """Nobody could dial it."""
    said = {"name": "p", "listen": listen, "upstream": "127.0.0.1:2", "enabled": True}
    async with answering(http(201, json.dumps(said))) as address:
        with pytest.raises(NotToxiproxyError, match="answered '"):
            await ToxiproxyClient(address).create("p", ("127.0.0.1", 2))


async def test_no_answer_is_an_error_after_a_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody waits for the thread that still listens."""
    monkeypatch.setattr(api_module, "CEILING_S", 0.01)
    async with asyncio.timeout(api_module.ANSWER_S / 2), answering(None) as address:
        with pytest.raises(NoAnswerError, match="did not answer /version in time"):
            await ToxiproxyClient(address).version()


async def test_nobody_there_is_an_error(unused_tcp_port: int) -> None:
    """It names the place and the reason."""
    with pytest.raises(UnreachableError, match=rf"127.0.0.1:{unused_tcp_port} cannot be reached: .*refused"):
        await ToxiproxyClient(("127.0.0.1", unused_tcp_port)).version()


async def test_the_environments_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int) -> None:
    """`requests` would send a call for loopback through them."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_tcp_port}")
    async with answering(http(200, '{"version": "2.12.0"}')) as address:
        assert await ToxiproxyClient(address).version() == "2.12.0"


async def test_two_clients_do_not_meet() -> None:
    """The package is configured by globals; each client has its own."""
    versions = ("2.1.0", "2.2.0")
    answers = [http(200, json.dumps({"version": version})) for version in versions]
    async with answering(answers[0]) as one, answering(answers[1]) as other:
        clients = [ToxiproxyClient(one), ToxiproxyClient(other)]
        assert tuple(await asyncio.gather(*(client.version() for client in clients))) == versions


async def test_how_a_server_of_ours_ended_is_said(unused_tcp_port: int) -> None:
    """Where its supervisor knows; else what the connection showed."""

    async def killed() -> str | None:
        return "was killed by SIGKILL, half way"

    with pytest.raises(UnreachableError, match="was killed by SIGKILL, half way"):
        await ToxiproxyClient(("127.0.0.1", unused_tcp_port), why_gone=killed).version()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8474", ("127.0.0.1", 8474)),
        ("http://toxi.test/", ("toxi.test", 8474)),
        ("http://[::1]:9", ("[::1]", 9)),
    ],
)
def test_a_url_names_host_and_port(url: str, address: Address) -> None:
    """The port is 8474 unless it says another."""
    assert address_of(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "8474",
        "localhost:8474",
        "https://127.0.0.1:8474",
        "http://:1",
        "http://h:x",
        "http://h:0",
        "http://h:99999",
        "http://h/api",
    ],
)
def test_what_is_no_url_of_it_is_refused(url: str) -> None:
    """It is quoted, beside one that would do."""
    with pytest.raises(ToxiproxyError) as raised:
        address_of(url)
    assert repr(url) in str(raised.value)
    assert "expected http://HOST:PORT, as in http://127.0.0.1:8474" in str(raised.value)


async def test_a_call_that_is_left_behind_does_not_disturb() -> None:
    """Its thread ends by itself, and its result reaches nobody."""
    loop, began, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        go_on.wait()

    call = asyncio.ensure_future(on_a_thread(work))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go_on.set()
    assert await on_a_thread(lambda: 7) == 7
