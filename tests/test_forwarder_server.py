"""The forwarder as a server in a process of its own: what its callers get, and how it starts and ends."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from tests.raw_router import FIN, NO_WORKERS, OK, SILENCE, Act, RawRouter, reply, result

REQUEST = b'{"prompt": [1]}'


@dataclass(slots=True, kw_only=True)
class Running:
    """A server process that has said that it listens."""

    process: asyncio.subprocess.Process
    host: str
    port: int

    async def post(self, body: bytes = REQUEST) -> tuple[int, Any]:
        """One request on a connection of its own; status and body."""
        fields = f"Host: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        return await self.exchange(b"POST /v1/completions HTTP/1.1\r\n" + fields + body)

    async def get(self, path: str) -> tuple[int, Any]:
        """The same for a GET."""
        return await self.exchange(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())

    async def exchange(self, request: bytes) -> tuple[int, Any]:
        """Send these bytes, read to the end."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        start, _, body = answer.partition(b"\r\n\r\n")
        return int(start.split()[1]), body


@asynccontextmanager
async def _running(*flags: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "forwarder", "--listen", "127.0.0.1:0", *flags,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = json.loads(await process.stdout.readline())
        assert line["listening"] == f"{line['host']}:{line['port']}"
        yield Running(process=process, host=line["host"], port=line["port"])
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _run(*flags: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "forwarder", *flags, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


ANSWERS: list[tuple[Act | bytes, int, str, str]] = [
    (NO_WORKERS, 503, "not_executed", "no"),
    (SILENCE, 504, "may_have_run", "unknown"),
    (FIN, 502, "may_have_run", "unknown"),
    (reply(500, b"{}"), 502, "may_have_run", "unknown"),
    (reply(200, b"<html>", type_="text/html"), 502, "result_lost", "yes"),
    (reply(404, b"{}"), 404, "rejected", "unknown"),
    (reply(307, b"", "Location: /"), 502, "rejected", "unknown"),
]


async def test_callers_get_the_result_unchanged_or_an_error_that_claims_what_is_proven() -> None:
    """One process, one caller after the other; the number of attempts is what arrived at the router."""
    raw = b"  " + result()
    script: list[Act | bytes] = [reply(200, raw, type_="application/json; charset=utf-8")]
    script += [act for act, *_ in ANSWERS for _ in range(2 if act is NO_WORKERS else 1)]
    async with RawRouter(script) as router, _running("--router", router.url, "--read-timeout-ms", "500") as server:
        assert await server.post() == (200, raw)
        for act, status, kind, executed in ANSWERS:
            before = router.requests
            got, body = await server.post()
            error = orjson.loads(body)["error"]
            assert (got, error["type"], error["executed"]) == (status, kind, executed)
            assert error["attempts"] == router.requests - before == (2 if act is NO_WORKERS else 1)
            assert set(error) == {"type", "message", "executed", "attempts"}
        arrived = router.requests
        got, body = await server.post(b"[]")
        assert (got, orjson.loads(body)["error"]["type"], orjson.loads(body)["error"]["attempts"]) == (
            400,
            "bad_request",
            0,
        )
        assert router.requests == arrived
        assert set(router.bodies) == {REQUEST}


async def test_healthz_counts_what_is_in_flight_and_sigterm_answers_it_first() -> None:
    """Asked to end, it takes no new caller, answers the one that it has, and exits with 0."""
    gate = asyncio.Event()
    async with RawRouter([Act(sends=OK, gate=gate)]) as router, _running("--router", router.url) as server:
        assert await server.get("/healthz") == (200, b'{"in_flight":0}')
        call = asyncio.create_task(server.post())
        await router.until(1)
        assert await server.get("/healthz") == (200, b'{"in_flight":1}')
        server.process.send_signal(signal.SIGTERM)
        while True:  # until the port is closed
            try:
                _, writer = await asyncio.open_connection(server.host, server.port)
            except ConnectionRefusedError:
                break
            except ConnectionResetError:
                continue  # it lay in the accept queue when the port was closed
            writer.close()
        gate.set()
        assert await call == (200, result())
        assert await server.process.wait() == 0


async def test_a_caller_that_leaves_gets_nothing_sent_again_on_its_behalf() -> None:
    """The attempt goes on to its end, and the answer that would be safe to retry ends it."""
    gate = asyncio.Event()
    act = Act(sends=NO_WORKERS, gate=gate)
    async with RawRouter([act]) as router, _running("--router", router.url) as server:
        _, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n" + REQUEST)
        await router.until(1)
        writer.close()
        await writer.wait_closed()
        assert await server.get("/healthz") == (200, b'{"in_flight":1}')
        gate.set()
        while (await server.get("/healthz"))[1] != b'{"in_flight":0}':
            pass
        assert router.requests == 1


async def test_the_access_log_is_plain_and_on_stderr() -> None:
    """One line a request; stdout holds the line that says where it listens, and nothing else."""
    async with RawRouter() as router, _running("--router", router.url) as server:
        await server.post()
        server.process.send_signal(signal.SIGINT)
        out, err = await server.process.communicate()
        assert server.process.returncode == 130
    assert out == b""
    assert len(err.splitlines()) == 1, "one handler, and no other logger passes it on"
    assert b'"POST /v1/completions HTTP/1.1" 200' in err
    assert b"\x1b" not in err


async def test_the_policy_is_a_flag() -> None:
    """blanket-5xx sends a 500 again."""
    async with (
        RawRouter([reply(500, b"{}")]) as router,
        _running("--router", router.url, "--policy", "blanket-5xx", "--no-access-log") as server,
    ):
        assert (await server.post())[0] == 200
        assert router.requests == 2


async def test_a_port_in_use_is_one_message_and_exit_4() -> None:
    """It says what was expected and what to do."""
    async with RawRouter() as router:
        address = router.url.removeprefix("http://")
        code, out, err = await _run("--listen", address, "--router", router.url)
    assert (code, out, len(err.splitlines())) == (4, "", 1)
    assert f"cannot listen on {address}: Address already in use; expected a free port" in err


WRONG_FLAGS = [
    ((), "--router"),
    (("--router", "localhost:1"), "'localhost:1'; expected http"),
    (("--router", "http://a", "--policy", "sfe"), "expected one of safe, blanket-5xx, never; did you mean 'safe'"),
    (("--router", "http://a", "--listen", "8080"), "'8080'; expected HOST:PORT"),
    (("--router", "http://a", "--read-timeout-ms", "0"), "read_timeout_ms is 0; expected more than 0"),
    (("--router", "http://a", "--backlog", "0"), "'0'; expected a whole number"),
]


@pytest.mark.parametrize(("flags", "says"), WRONG_FLAGS)
async def test_wrong_flags_are_exit_2_with_what_was_expected(flags: tuple[str, ...], says: str) -> None:
    """Nothing is started."""
    code, out, err = await _run(*flags)
    assert (code, out) == (2, "")
    assert says in err


async def test_help_teaches_flags_answers_and_exit_codes() -> None:
    """Every flag, every type of error, and an example."""
    code, out, _ = await _run("--help")
    assert code == 0
    for word in ("--listen", "--router", "--policy", "--read-timeout-ms", "--max-connections", "--keep-alive-s"):
        assert word in out
    for word in ("not_executed", "may_have_run", "result_lost", "rejected", "bad_request", "SIGTERM", "example:"):
        assert word in out
