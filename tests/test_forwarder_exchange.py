"""Failures after a connection was handed to the request: what the forwarder says of each, and how often the
request arrived under each policy.
"""

import asyncio
import gzip
from collections.abc import Callable

import pytest
import uvloop

from forwarder import (
    BLANKET_5XX,
    NEVER,
    SAFE,
    Forwarder,
    ForwardError,
    Kind,
    MayHaveRunError,
    NotExecutedError,
    Policy,
    RejectedError,
    ResultLostError,
    Settings,
)
from forwarder.reply import Reply
from forwarder.request import Asked, request_of
from forwarder.validate import InvalidResultError
from tests.raw_router import FIN, NO_WORKERS, OK, RESET, SILENCE, Act, RawRouter, head, reply, result

REQUEST = {"prompt": [1], "return_token_ids": True}
PATIENT = Settings(read_timeout_ms=20_000)
HASTY = Settings(read_timeout_ms=100)
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
HTML = b"<!DOCTYPE html><h1>Sign in</h1>"
CHUNKED = head(200, "Content-Type: application/json", "Transfer-Encoding: chunked")
HALF = result()[:20]
LONG = "Content-Type: application/json", "Content-Length: 99"


def _chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


# name: what the router does to every attempt, the evidence, the error, and the attempts under `safe`, `blanket-5xx`
CASES: dict[str, tuple[Act | bytes, Kind, type[ForwardError], int, int]] = {
    "reset": (RESET, Kind.RESET, MayHaveRunError, 1, 1),
    "fin": (FIN, Kind.CLOSED, MayHaveRunError, 1, 1),
    "silence": (SILENCE, Kind.SILENCE, MayHaveRunError, 1, 1),
    "part of a status line": (Act(sends=b"HTTP/1.1 20", then="fin"), Kind.CLOSED, MayHaveRunError, 1, 1),
    "no HTTP": (Act(sends=b"\x15\x03\x03\x00\x02\x02\x28\r\n\r\n", then="fin"), Kind.GARBLED, MayHaveRunError, 1, 1),
    "500": (reply(500, b"{}"), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "502": (reply(502, HTML, type_="text/html"), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "503": (reply(503, b"{}"), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "503 with Retry-After": (reply(503, b"{}", "Retry-After: 0"), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "504": (reply(504, b""), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "429": (reply(429, b"{}", "Retry-After: 0"), Kind.THROTTLED, MayHaveRunError, 1, 1),
    "503 of the contract": (NO_WORKERS, Kind.NOT_ACCEPTED, NotExecutedError, 2, 2),
    "half a 503 of the contract": (Act(sends=NO_WORKERS[:-1], then="fin"), Kind.SERVER_ERROR, MayHaveRunError, 1, 2),
    "503 of the contract, compressed": (
        reply(503, gzip.compress(b"No available workers"), "Content-Encoding: gzip"),
        Kind.SERVER_ERROR,
        MayHaveRunError,
        1,
        2,
    ),
    "408": (reply(408, b""), Kind.NOT_APPLIED, NotExecutedError, 2, 1),
    "421": (reply(421, b""), Kind.NOT_APPLIED, NotExecutedError, 2, 1),
    "425": (reply(425, b""), Kind.NOT_APPLIED, NotExecutedError, 2, 1),
    "400": (reply(400, b"{}"), Kind.CLIENT_ERROR, RejectedError, 1, 1),
    "409": (reply(409, b"{}"), Kind.CLIENT_ERROR, RejectedError, 1, 1),
    "302": (reply(302, b"", "Location: /v1/completions"), Kind.REDIRECT, RejectedError, 1, 1),
    "307": (reply(307, b"", "Location: /v1/completions"), Kind.REDIRECT, RejectedError, 1, 1),
    "HTML with 200": (reply(200, HTML, type_="text/html"), Kind.RESULT_INVALID, ResultLostError, 1, 1),
    "HTML as JSON with 200": (reply(200, HTML), Kind.RESULT_INVALID, ResultLostError, 1, 1),
    "empty 200": (reply(200, b""), Kind.RESULT_INVALID, ResultLostError, 1, 1),
    "204": (head(204), Kind.RESULT_INVALID, ResultLostError, 1, 1),
    "another shape with 200": (reply(200, b'{"data":[]}'), Kind.RESULT_INVALID, ResultLostError, 1, 1),
    "200, then silence": (Act(sends=head(200, *LONG), then="hold"), Kind.RESULT_CUT, ResultLostError, 1, 1),
    "200 cut by FIN": (Act(sends=head(200, *LONG) + HALF, then="fin"), Kind.RESULT_CUT, ResultLostError, 1, 1),
    "200 cut by reset": (Act(sends=head(200, *LONG) + HALF, then="reset"), Kind.RESULT_CUT, ResultLostError, 1, 1),
    "chunks cut by FIN": (Act(sends=CHUNKED + _chunk(HALF), then="fin"), Kind.RESULT_CUT, ResultLostError, 1, 1),
    "no last chunk": (Act(sends=CHUNKED + _chunk(result()), then="fin"), Kind.RESULT_CUT, ResultLostError, 1, 1),
    "half without a length": (
        Act(sends=head(200, "Content-Type: application/json") + HALF, then="fin"),
        Kind.RESULT_INVALID,
        ResultLostError,
        1,
        1,
    ),
}


@pytest.mark.parametrize("new_loop", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("case", CASES)
def test_each_failure_is_sent_as_often_as_the_policy_says_and_named_for_what_it_proves(
    case: str, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Counted where the requests arrive. A failure never claims more than its evidence proves."""
    act, kind, error, safe, blanket = CASES[case]

    async def scene(policy: Policy, attempts: int) -> None:
        settings = HASTY if "silence" in case else PATIENT
        async with (
            RawRouter([act] * 3) as router,
            Forwarder([router.url], policy=policy, settings=settings) as forwarder,
        ):
            with pytest.raises(error) as caught:
                await forwarder.complete(REQUEST)
            assert type(caught.value) is error
            assert [failure.kind for failure in caught.value.failures] == [kind] * attempts
            await router.until(attempts)
            assert router.requests == caught.value.attempts == attempts
            assert len(set(router.bodies)) == 1
            assert forwarder.in_flight == 0

    with asyncio.Runner(loop_factory=new_loop) as runner:
        for policy, attempts in ((SAFE, safe), (BLANKET_5XX, blanket), (NEVER, 1)):
            runner.run(scene(policy, attempts))


@pytest.mark.parametrize("ends", [RESET, FIN, Act(sends=b"HTTP/1.1 200 OK\r\nContent-", then="reset")])
async def test_a_reused_connection_that_breaks_proves_nothing(ends: Act) -> None:
    """The request may have run before the connection broke, also where an idle connection was just being closed."""
    async with RawRouter([OK, ends]) as router, Forwarder([router.url], settings=PATIENT) as forwarder:
        await forwarder.complete(REQUEST)
        with pytest.raises(MayHaveRunError, match="on a reused connection"):
            await forwarder.complete(REQUEST)
        assert (router.requests, router.connections) == (2, 1)


async def test_a_retry_sends_the_same_bytes_and_its_success_is_the_outcome() -> None:
    """Also a request that came as bytes with a layout of its own, and one of several megabytes."""
    for given in (b' {"prompt":\t[1] }', b'{"prompt":"' + b"x" * 3_000_000 + b'"}'):
        async with RawRouter([NO_WORKERS]) as router, Forwarder([router.url], settings=PATIENT) as forwarder:
            completion = await forwarder.complete(given)
            assert completion.raw == result()
            assert router.bodies == [given, given]


async def test_a_read_timeout_says_how_to_raise_the_deadline() -> None:
    """The one failure that its owner can configure away."""
    async with RawRouter([SILENCE]) as router, Forwarder([router.url], settings=HASTY) as forwarder:
        with pytest.raises(MayHaveRunError, match=r"the read timeout.*raise the deadline.*--read-timeout-ms"):
            await forwarder.complete(REQUEST)


async def test_work_that_nobody_waits_for_is_not_sent_again() -> None:
    """Asked after the first failure; what was proven of it is the outcome."""

    async def abandoned() -> bool:
        return True

    async with RawRouter([NO_WORKERS]) as router, Forwarder([router.url]) as forwarder:
        with pytest.raises(NotExecutedError):
            await forwarder.complete(REQUEST, abandoned=abandoned)
        assert router.requests == 1


async def test_the_request_is_plain_json_and_asks_for_an_answer_without_encoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No cookie of an earlier answer, no proxy of the environment, no compression."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    cookie = reply(200, result(), "Set-Cookie: a=b")
    async with RawRouter([cookie]) as router, Forwarder([router.url.replace("127.0.0.1", "localhost")]) as forwarder:
        await forwarder.complete(REQUEST)
        await forwarder.complete(REQUEST)
    lines = [line.lower() for line in router.heads[1].split(b"\r\n")]
    assert lines[0] == b"post /v1/completions http/1.1"
    assert {b"content-type: application/json", b"accept-encoding: identity"} <= set(lines)
    assert not any(line.startswith((b"cookie", b"authorization", b"transfer-encoding")) for line in lines)


async def test_an_answer_above_the_size_bound_is_lost_and_its_connection_is_not_reused() -> None:
    """It is not read to its end."""
    settings = Settings(max_response_bytes=10)
    endless = Act(sends=head(200, *LONG) + HALF, then="hold")
    async with RawRouter([endless] * 2) as router, Forwarder([router.url], settings=settings) as forwarder:
        for _ in range(2):
            with pytest.raises(ResultLostError, match=r"more than 10 bytes; raise Settings\(max_response_bytes"):
                await forwarder.complete(REQUEST)
        assert (router.requests, router.connections) == (2, 2)


async def test_forward_returns_what_its_reader_makes_of_a_whole_answer_and_sends_its_headers_each_time() -> None:
    """The reader decides what a result is; one that finds none makes it executed, result lost."""

    def nothing(reply: Reply, asked: Asked) -> object:
        raise InvalidResultError(f"{len(reply.body)} bytes for {asked.choices} choices")

    request = request_of(REQUEST)
    async with RawRouter([NO_WORKERS]) as router, Forwarder([router.url], settings=PATIENT) as forwarder:
        got = await forwarder.forward(request, lambda reply, _: reply.body, headers={"X-Session-ID": "s:7"})
        assert got == result()
        with pytest.raises(ResultLostError, match=f"but {len(result())} bytes for 1 choices"):
            await forwarder.forward(request, nothing)
        assert [b"\r\nX-Session-ID: s:7\r\n" in sent for sent in router.heads] == [True, True, False]
        assert forwarder.in_flight == 0
