"""What a hostile or broken caller cannot do: hold connections without a request, fill memory, or break a handler."""

import asyncio
from collections.abc import Callable

import pytest

from forwarder.api.connection import MOST_HEAD_BYTES, Connection
from tests.api_server import SAMPLE, SAMPLED, Serving, request, serving
from tests.raw_router import SILENCE, Act, RawRouter

NOWHERE = "http://127.0.0.1:1"
DEEP = b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize("path", ["create_session", "retrieve_future", "session_heartbeat", "telemetry", "asample"])
async def test_json_that_is_too_deep_is_refused_like_any_other_that_does_not_validate(path: str) -> None:
    """A 500 would be asked again for ever."""
    head = f"POST /api/v1/{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(DEEP)}\r\n\r\n".encode()
    async with serving(NOWHERE) as server:
        answer = await (await server.open(head + DEEP)).answer()
    assert (answer.status, answer.json["error"]["type"]) == (422, "invalid")


async def test_an_id_that_is_too_long_is_not_sent_back_whole() -> None:
    """Nor the id of a session."""
    long = "9" * 100_000
    async with serving(NOWHERE) as server:
        for path, body in (("retrieve_future", {"request_id": long}), ("session_heartbeat", {"session_id": long})):
            answer = await server.post(path, body)
            assert answer.status == 404
            assert len(answer.body) < 1_000


async def test_a_head_without_an_end_is_refused() -> None:
    """Whole lines or one, it is held in memory until it ends."""
    async with serving(NOWHERE) as server:
        call = await server.open(b"GET /healthz HTTP/1.1\r\nX: " + b"a" * (MOST_HEAD_BYTES + 1))
        assert (await call.reader.readuntil(b"\r\n")).split()[1] == b"400"
        call = await server.open(b"GET /healthz HTTP/1.1\r\nX: " + b"a" * (MOST_HEAD_BYTES // 2) + b"\r\n\r\n")
        assert (await call.answer()).status == 200


@pytest.mark.parametrize("sent", [b"", b"POST /api/v1/asample HTTP/1.1\r\nHo"], ids=["silent", "half a head"])
async def test_a_connection_without_a_whole_head_is_ended(sent: bytes) -> None:
    """Else each holds a file descriptor for ever."""
    async with serving(NOWHERE, "--keep-alive-s", "1") as server:
        call = await server.open(sent)
        assert await call.reader.read() == b""


async def test_a_connection_whose_request_has_come_is_not_ended_so() -> None:
    """Its poll may be held for longer than a head may take."""
    async with RawRouter([SILENCE]) as router, serving(router.url) as server:
        await server.poll(await server.submit(await server.session()))
        await server.settled()
        connections = [one for one in server.server.server_state.connections if isinstance(one, Connection)]
        assert connections
        assert not any(one.waits_for_a_head for one in connections)


async def test_what_is_held_of_a_request_that_runs_has_its_room() -> None:
    """A large prompt with a small result is refused where it does not fit; its room is given back when it has run."""
    gate = asyncio.Event()
    script: list[Act | bytes] = [Act(sends=SAMPLED, gate=gate), SAMPLED]
    async with RawRouter(script) as router, serving(router.url, "--max-stored-bytes", "22000") as server:
        sampling = await server.session()
        first = await server.submit(sampling, 0, prompt=_prompt(1_000))
        asked = {**SAMPLE, "sampling_session_id": sampling, "seq_id": 1}
        assert (await server.post("asample", {**asked, "prompt": _prompt(1_000)})).status == 429
        assert (await server.post("asample", {**asked, "prompt": _prompt(4_000)})).status == 413
        gate.set()
        assert (await (await server.poll(first)).answer()).status == 200
        assert (await server.post("asample", {**asked, "prompt": _prompt(1_000)})).status == 200


@pytest.mark.parametrize("path", ["asample", "/v1/completions"])
async def test_what_has_come_of_a_body_takes_room_until_its_caller_leaves(path: str) -> None:
    """A second one is told to come again; what is small comes through all the same."""
    part = 200_000
    head = request(path, b"").replace(b"Content-Length: 0", b"Content-Length: 300000")
    async with serving(NOWHERE, "--max-stored-bytes", "300000") as server:
        first = await server.open(head + b" " * part)
        await _until(server, lambda stored: stored == part)
        second = await (await server.open(head + b" " * part)).answer()
        error = second.json["error"]
        assert (second.status, error["type"], error["executed"]) == (429, "full", "no")
        assert (await server.post("session_heartbeat", {"session_id": "x"})).status == 404
        await first.close()
        await _until(server, lambda stored: stored == 0)


async def _until(server: Serving, reached: Callable[[int], bool]) -> None:
    """So many bytes are stored. What a caller has written cannot be waited for otherwise."""
    while not reached((await server.settled())["stored_bytes"]):
        pass


async def test_a_completion_that_is_too_large_is_refused_before_it_has_come() -> None:
    """And it says that nothing was executed."""
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"
    async with serving(NOWHERE, "--max-body-bytes", "100") as server:
        answer = await (await server.open(head)).answer()
    assert (answer.status, answer.json["error"]["executed"]) == (413, "no")


def _prompt(tokens: int) -> dict[str, object]:
    return {"chunks": [{"tokens": [3] * tokens, "type": "encoded_text"}]}
