"""Streams through the library: events as they come, sent again before the first alone, checked to the last."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import orjson
import pytest
import uvloop

from forwarder import (
    Api,
    Forwarder,
    Kind,
    MayHaveRunError,
    NotExecutedError,
    RequestError,
    ResultLostError,
    Settings,
    StreamEvent,
)
from tests.raw_router import FIN, NO_WORKERS, RESET, Act, RawRouter, head, reply, result

HEAD = head(200, "Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked")
REQUEST = {"prompt": [1], "stream": True, "return_token_ids": True}
CHAT = {"messages": [{"role": "user", "content": "?"}], "stream": True, "return_token_ids": True}
LAST = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


def event(text: str = "a", *, id_: str = "cmpl-1", **changes: Any) -> bytes:
    """One event of a completion."""
    choice = {"index": 0, "text": text, "finish_reason": None, "token_ids": [1], "logprobs": None} | changes
    return b"data: " + orjson.dumps({"id": id_, "choices": [choice]}) + b"\n\n"


def chat_event(content: str | None, **changes: Any) -> bytes:
    """One event of a chat completion."""
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": None, "token_ids": [1]} | changes
    return b"data: " + orjson.dumps({"id": "chatcmpl-1", "choices": [choice]}) + b"\n\n"


def chunks(*parts: bytes) -> bytes:
    """Each part as one chunk."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


END = event("b", finish_reason="stop")
WHOLE = [PING, event(), END, DONE]
OK = HEAD + chunks(*WHOLE) + LAST


async def _all(forwarder: Forwarder, request: Any = REQUEST, api: Api = Api.COMPLETIONS) -> list[StreamEvent]:
    async with aclosing(forwarder.stream(request, api=api)) as events:
        return [event async for event in events]


async def _until_lost(forwarder: Forwarder) -> tuple[list[StreamEvent], ResultLostError]:
    seen: list[StreamEvent] = []
    try:
        async with aclosing(forwarder.stream(REQUEST)) as events:
            async for one in events:
                seen.append(one)  # noqa: PERF401  # a comprehension would lose them with the error
    except ResultLostError as error:
        return seen, error
    raise AssertionError(f"the stream ended well, after {len(seen)} events")


async def _through(script: Sequence[Act | bytes], settings: Settings | None = None) -> tuple[list[StreamEvent], int]:
    async with RawRouter(script) as router, Forwarder([router.url], settings=settings) as forwarder:
        try:
            return await _all(forwarder), router.requests
        finally:
            assert forwarder.in_flight == 0


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_stream_comes_through_event_by_event_and_byte_for_byte(loop: Callable[[], Any], end: bytes) -> None:
    """Comments too; the text and tokens are read, and only the last event says that it is done."""
    parts = [part.replace(b"\n", end) for part in WHOLE]
    with asyncio.Runner(loop_factory=loop) as runner:
        events, _ = runner.run(_through([HEAD + chunks(*parts) + LAST]))
    assert [event.raw for event in events] == parts
    assert [event.done for event in events] == [False, False, False, True]
    assert "".join(delta.text for event in events for delta in event.deltas) == "ab"
    assert [delta.token_ids for event in events for delta in event.deltas] == [(1,), (1,)]


async def test_chat_goes_to_its_own_path_and_is_read_in_its_own_shape() -> None:
    """A role alone, contents, a count of tokens without a choice: whole answers and streams alike."""
    usage = b'data: {"id":"chatcmpl-1","choices":[],"usage":{"total_tokens":3}}\n\n'
    parts = [chat_event(None, token_ids=None), chat_event("a"), chat_event("b", finish_reason="stop"), usage, DONE]
    message = {"index": 0, "message": {"content": "ab"}, "finish_reason": "stop", "token_ids": [1, 2]}
    whole = reply(200, orjson.dumps({"choices": [message]}))
    async with (
        RawRouter([HEAD + chunks(*parts) + LAST, whole]) as router,
        Forwarder([router.url]) as forwarder,
    ):
        events = await _all(forwarder, CHAT, Api.CHAT)
        completion = await forwarder.complete(CHAT | {"stream": False}, api=Api.CHAT)
        assert [start.split()[1] for start in router.heads] == [b"/v1/chat/completions"] * 2
        assert [b"text/event-stream" in start for start in router.heads] == [True, False]
    assert [event.raw for event in events] == parts
    assert "".join(delta.text for event in events for delta in event.deltas) == completion.choices[0].text == "ab"


# what the router sends after the head, how it ends, the evidence, and what the message says
LOST: dict[str, tuple[bytes, str, Kind, str]] = {
    "cut before an event": (b"", "fin", Kind.RESULT_CUT, "after 0 events"),
    "cut by a reset": (chunks(event()), "reset", Kind.RESULT_CUT, "reset by peer"),
    "cut inside an event": (chunks(event(), event()[:9]), "fin", Kind.RESULT_CUT, "after 1 events"),
    "cut after an event": (chunks(event()), "fin", Kind.RESULT_CUT, "after 1 events"),
    "cut before the last chunk": (chunks(*WHOLE), "fin", Kind.RESULT_CUT, "after 2 events"),
    "stalled": (chunks(event()), "hold", Kind.RESULT_CUT, "nothing came for 100 ms"),
    "ends without [DONE]": (chunks(event(), END) + LAST, "keep", Kind.RESULT_INVALID, "without [DONE]"),
    "ends inside an event": (chunks(event(), b"data: 1") + LAST, "keep", Kind.RESULT_INVALID, "inside an event"),
    "ends without an event": (LAST, "keep", Kind.RESULT_INVALID, "without [DONE]"),
    "[DONE] alone": (chunks(DONE) + LAST, "keep", Kind.RESULT_INVALID, "before a finish_reason of choice 0"),
    "[DONE] and more": (chunks(*WHOLE, event()) + LAST, "keep", Kind.RESULT_INVALID, "something follows [DONE]"),
    "an error": (chunks(event(), b'data: {"error":{"message":"dead"}}\n\n', DONE) + LAST, "keep",
                 Kind.RESULT_INVALID, "an error in place of a result"),
    "no JSON": (chunks(event(), b"data: {\n\n") + LAST, "keep", Kind.RESULT_INVALID, "an event is no JSON"),
    "no tokens": (chunks(event(token_ids=None)), "keep", Kind.RESULT_INVALID, "no token_ids"),
    "a bad reason": (chunks(event(finish_reason="abort")), "keep", Kind.RESULT_INVALID, "'abort'"),
    "another choice": (chunks(event(index=1)), "keep", Kind.RESULT_INVALID, "choice 1; expected 0 to 0"),
    "another's event": (chunks(event(), event(id_="cmpl-2")), "keep", Kind.RESULT_INVALID, "'cmpl-2'"),
    "goes on": (chunks(END, event()), "keep", Kind.RESULT_INVALID, "after its finish_reason"),
    "overlong": (chunks(event("x" * 3_000)), "keep", Kind.RESULT_INVALID, "more than 2000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
async def test_a_stream_that_is_not_whole_and_right_is_a_lost_result(name: str) -> None:
    """It was executed: it is not sent again, and what had come before was passed on."""
    sends, then, kind, says = LOST[name]
    settings = Settings(read_timeout_ms=100 if name == "stalled" else 20_000, max_event_bytes=2_000)
    act = Act(sends=HEAD + sends, then=then)
    async with RawRouter([act]) as router, Forwarder([router.url], settings=settings) as forwarder:
        seen, error = await _until_lost(forwarder)
        assert error.evidence.kind is kind
        assert says in error.says
        assert error.attempts == router.requests == 1
        assert forwarder.in_flight == 0
        if then == "keep" and not sends.endswith(LAST):
            await router.until_open(0)  # what was not read to its end is closed at once
    assert not any(one.done for one in seen)


NO_STREAM = {
    "html": (reply(200, b"<html>", type_="text/html"), "content-type is 'text/html'; expected text/event-stream"),
    "json": (reply(200, result()), "content-type is 'application/json'"),
    "204": (head(204), "status is 204"),
    "compressed": (reply(200, b"", "Content-Encoding: gzip", type_="text/event-stream"), "content-encoding"),
}


@pytest.mark.parametrize("name", NO_STREAM)
async def test_a_success_that_is_no_stream_is_a_lost_result(name: str) -> None:
    """A 2xx says that it ran."""
    sends, says = NO_STREAM[name]
    with pytest.raises(ResultLostError) as caught:
        await _through([sends])
    assert says in caught.value.says


async def test_before_the_first_event_the_policy_decides_as_for_any_request() -> None:
    """What was never applied is sent again, what may have run is not."""
    events, requests = await _through([NO_WORKERS, OK])
    assert (len(events), requests) == (len(WHOLE), 2)
    with pytest.raises(NotExecutedError) as refused:
        await _through([NO_WORKERS, NO_WORKERS])
    assert refused.value.attempts == 2
    for act in (FIN, RESET, reply(503, b"{}")):
        with pytest.raises(MayHaveRunError) as doubtful:
            await _through([act])
        assert doubtful.value.attempts == 1


async def test_a_failure_after_a_safe_one_counts_both_attempts() -> None:
    """The evidence of every attempt is kept."""
    with pytest.raises(ResultLostError) as lost:
        await _through([NO_WORKERS, Act(sends=HEAD + chunks(event()), then="fin")])
    assert [failure.kind for failure in lost.value.failures] == [Kind.NOT_ACCEPTED, Kind.RESULT_CUT]


async def test_whole_answers_and_streams_are_asked_for_by_their_own_calls() -> None:
    """A mix-up is refused before anything is sent."""
    async with RawRouter() as router, Forwarder([router.url]) as forwarder:
        with pytest.raises(RequestError, match="use `stream`"):
            await forwarder.complete(REQUEST)
        with pytest.raises(RequestError, match="use `complete`"):
            await _all(forwarder, {"prompt": [1]})
        assert router.requests == 0


async def test_leaving_early_closes_the_connection_and_closing_ends_a_stream() -> None:
    """Whoever stops iterating stops the router; who iterates when the forwarder closes gets an error."""
    held = Act(sends=HEAD + chunks(event()), then="hold")
    async with RawRouter([held, held]) as router:
        forwarder = Forwarder([router.url])
        await forwarder.start()
        async with aclosing(forwarder.stream(REQUEST)) as events:
            await anext(events)
        assert forwarder.in_flight == 0
        await router.until_open(0)
        async with aclosing(forwarder.stream(REQUEST)) as events:
            await anext(events)
            following = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)  # it waits for the next event
            await forwarder.close()
            with pytest.raises(ResultLostError, match="the forwarder was closed"):
                await following
        await router.until_open(0)


async def test_a_connection_whose_stream_was_read_to_its_end_is_used_again() -> None:
    """As for whole answers."""
    async with RawRouter([OK, OK]) as router, Forwarder([router.url]) as forwarder:
        await _all(forwarder)
        await _all(forwarder)
        assert router.connections == 1


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("framed", [True, False])
def test_a_slow_reader_gets_all_of_a_stream_whose_router_has_long_closed(loop: Callable[[], Any], framed: bool) -> None:
    """What lies in buffers when the router ends its side is no less whole for that."""
    parts = [*[event("x" * 500)] * 4_000, END, DONE]
    close = head(200, "Content-Type: text/event-stream", "Connection: close")
    sends = HEAD + chunks(*parts) + LAST if framed else close + b"".join(parts)

    async def read_slowly() -> int:
        sent = asyncio.Event()
        act = Act(sends=sends, then="fin", sent=sent)
        async with RawRouter([act]) as router, Forwarder([router.url]) as forwarder:
            async with aclosing(forwarder.stream(REQUEST)) as events:
                await anext(events)
                drained = asyncio.ensure_future(sent.wait())
                got = 1
                async for _ in events:
                    got += 1
                    await asyncio.sleep(0)  # everybody else first
                await drained
            return got

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(read_slowly()) == len(parts)
