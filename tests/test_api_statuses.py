"""What each request of the sampling protocol is answered with, whatever is wrong with it."""

from typing import Any

import pytest

from tests.api_server import PROTOBUF, SAMPLE, SAMPLED, Call, Serving, request, serving
from tests.raw_router import FIN, NO_WORKERS, SILENCE, Act, RawRouter, reply

PARAMS = {"max_tokens": 8}


def _sample(**changes: Any) -> dict[str, Any]:
    return {**SAMPLE, "sampling_session_id": "SAMPLING", "seq_id": 0, **changes}


REFUSED: list[tuple[str, Any, int, str, str]] = [
    ("create_session", b"", 422, "invalid", "expected a JSON object"),
    ("create_session", [], 422, "invalid", "Expected `object`"),
    ("create_sampling_session", {"base_model": "m"}, 422, "invalid", "session_id"),
    ("create_sampling_session", {"session_id": "SESSION"}, 422, "invalid", "neither base_model nor model_path"),
    ("create_sampling_session", {"session_id": "no", "base_model": "m"}, 404, "unknown_session", "no"),
    ("session_heartbeat", {"session_id": "no"}, 404, "unknown_session", "no"),
    ("session_heartbeat", {}, 422, "invalid", "session_id"),
    ("asample", b"{", 422, "invalid", "truncated"),
    ("asample", _sample(sampling_params={}), 400, "invalid", "max_tokens"),
    ("asample", _sample(sampling_params={"max_tokens": 0}), 400, "invalid", "max_tokens"),
    ("asample", _sample(sampling_session_id="a:b"), 400, "invalid", "':'"),
    ("asample", _sample(sampling_session_id="no"), 404, "unknown_session", "no"),
    ("asample", _sample(seq_id=None), 422, "invalid", "seq_id"),
    ("asample", _sample(prompt={"chunks": 1}), 422, "invalid", "chunks"),
    ("retrieve_future", {"request_id": 1}, 422, "invalid", "request_id"),
    ("retrieve_future", {"request_id": "x"}, 422, "invalid", "expected a number"),
    ("retrieve_future", {"request_id": "\u0663"}, 422, "invalid", "expected a number"),
    ("retrieve_future", {"request_id": "1"}, 404, "foreign", "unknown"),
    ("retrieve_future", b"x" * 5000, 413, "body_too_large", "expected at most 4096"),
    ("retrieve_futures", {}, 404, "no_such_path", "/api/v1/retrieve_future"),
    ("samplers/x", {}, 405, "method_not_allowed", "expected GET"),
]


async def test_each_wrong_request_has_its_status_and_an_answer_that_says_what_was_expected() -> None:
    """Nothing is sent to the router; and what refuses a submit says that nothing was executed."""
    async with RawRouter() as router, serving(router.url, "--max-body-bytes", "4096") as server:
        session = (await server.post("create_session", {})).json["session_id"]
        asked = {"session_id": session, "model_path": "tinker://a/b"}
        sampling = (await server.post("create_sampling_session", asked)).json["sampling_session_id"]
        for path, body, status, kind, says in REFUSED:
            sent = _named(body, session, sampling)
            answer = await server.post(path, sent)
            error = answer.json["error"]
            assert (answer.status, error["type"]) == (status, kind), (path, body, answer)
            assert says in error["message"], (path, body)
            assert error.get("executed") == ("no" if path == "asample" else None)
        assert router.requests == 0
        assert (await server.get("/api/v1/samplers/no")).status == 404
        found = (await server.get(f"/api/v1/samplers/{sampling}")).json
        assert found == {"sampler_id": sampling, "base_model": "tinker://a/b", "model_path": "tinker://a/b"}


def _named(body: Any, session: str, sampling: str) -> Any:
    if not isinstance(body, dict):
        return body
    return {key: {"SESSION": session, "SAMPLING": sampling}.get(str(value), value) for key, value in body.items()}


async def test_what_surrounds_sampling_has_the_answers_that_the_sdk_needs() -> None:
    """Heartbeat, telemetry, configuration, capabilities, health."""
    async with serving("http://127.0.0.1:1", "--model", "a", "--model", "b") as server:
        session = (await server.post("create_session", {"tags": [], "type": "create_session"})).json["session_id"]
        for path, body, expected in [
            ("client/config", {"sdk_version": "0.25.0"}, {}),
            ("client/dynamic_config", {"sdk_version": "0.25.0"}, {"refresh_interval_sec": 300}),
            ("session_heartbeat", {"session_id": session}, {"type": "session_heartbeat"}),
            ("telemetry", {"events": []}, {"status": "accepted"}),
        ]:
            answer = await server.post(path, body)
            assert (answer.status, answer.json) == (200, expected)
        models = (await server.get("/api/v1/get_server_capabilities")).json
        assert models == {"supported_models": [{"model_name": "a"}, {"model_name": "b"}]}
        assert (await server.get("/healthz")).json == {"in_flight": 0}


async def test_a_submit_has_one_future_however_often_it_is_sent_and_another_content_is_refused() -> None:
    """The router is asked once, with the operation's key in a header; 422 and not 409, on which the SDK sends again."""
    async with RawRouter([SAMPLED]) as router, serving(router.url) as server:
        sampling = await server.session()
        first = await server.submit(sampling)
        assert await server.submit(sampling) == first
        other = {**SAMPLE, "sampling_params": {"max_tokens": 9}, "sampling_session_id": sampling, "seq_id": 0}
        refused = await server.post("asample", other)
        assert (refused.status, refused.json["error"]["type"]) == (422, "other_content")
        assert (await (await server.poll(first)).answer()).status == 200
        assert await server.submit(sampling) == first
        assert router.requests == 1
        assert f"x-session-id: {sampling}:0\r\n".encode() in router.heads[0].lower()


async def test_a_result_is_protobuf_where_that_is_accepted_and_json_otherwise() -> None:
    """Two polls for protobuf get the same bytes."""
    async with RawRouter([SAMPLED]) as router, serving(router.url) as server:
        request_id = await server.submit(await server.session())
        answers = [await (await server.poll(request_id)).answer() for _ in range(2)]
        assert answers[0].headers["content-type"] == PROTOBUF
        assert answers[0].body == answers[1].body
        shown = await (await server.poll(request_id, accept="application/json")).answer()
        assert shown.headers["content-type"] == "application/json"
        assert shown.json["sequences"] == [{"stop_reason": "stop", "tokens": [7, 8], "logprobs": [-0.5, -0.25]}]
        both = await (await server.poll(request_id, accept=f"application/json, {PROTOBUF};q=0.5")).answer()
        assert both.body == answers[0].body


FAILED: list[tuple[Act | bytes, str, str]] = [
    (NO_WORKERS, "no", "server"),
    (SILENCE, "unknown", "server"),
    (FIN, "unknown", "server"),
    (reply(500, b"{}"), "unknown", "server"),
    (reply(200, b"{}"), "yes", "server"),
    (reply(404, b"{}"), "unknown", "user"),
]


async def test_a_failed_operation_says_whether_it_has_run_and_is_counted() -> None:
    """A 200 with "error", on which the SDK raises; a retry is counted by its reason."""
    script = [act for act, *_ in FAILED for _ in range(2 if act is NO_WORKERS else 1)]
    async with RawRouter(script) as router, serving(router.url, "--read-timeout-ms", "200") as server:
        sampling = await server.session()
        for at, (_, executed, category) in enumerate(FAILED):
            answer = await (await server.poll(await server.submit(sampling, at))).answer()
            assert (answer.status, answer.json["executed"], answer.json["category"]) == (200, executed, category)
            assert set(answer.json) == {"error", "executed", "category"}
        metrics = (await server.get("/metrics")).body.decode()
    for line in (
        'forwarder_operations_total{api="asample",outcome="not_executed"} 1.0',
        'forwarder_operations_total{api="asample",outcome="may_have_run"} 3.0',
        'forwarder_operations_total{api="asample",outcome="result_lost"} 1.0',
        'forwarder_operations_total{api="asample",outcome="rejected"} 1.0',
        'forwarder_retries_total{reason="not_accepted"} 1.0',
        'forwarder_polls_total{ending="failed"} 6.0',
        "forwarder_in_flight 0.0",
        "forwarder_undelivered 0.0",
    ):
        assert line in metrics


async def test_a_body_that_is_too_large_is_refused_when_that_is_known() -> None:
    """By its Content-Length, before it has come; without one, as soon as too much has come."""
    head = b"POST /api/v1/asample HTTP/1.1\r\nHost: x\r\n"
    async with serving("http://127.0.0.1:1", "--max-body-bytes", "100") as server:
        for data in (b"Content-Length: 101\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n65\r\n" + b" " * 101):
            assert await _said_of(await server.open(head + data)) == (413, "body_too_large")


async def _said_of(call: Call) -> tuple[int, str]:
    answer = await call.answer()
    return answer.status, answer.json["error"]["type"]


@pytest.mark.parametrize("path", ["asample", "retrieve_future"])
async def test_a_body_that_never_ends_is_refused_and_a_caller_that_leaves_inside_it_is_forgotten(path: str) -> None:
    """Neither stores anything, and no handler stays behind."""
    async with serving("http://127.0.0.1:1", "--body-timeout-s", "1") as server:
        half = request(path, b"{" + b" " * 100)[:-50]
        leaving = await server.open(half)
        await leaving.writer.drain()
        await leaving.close()
        assert await _said_of(await server.open(half)) == (408, "body_timeout")
        await _until_idle(server)
        assert server.service.futures.counts.in_flight == 0


async def _until_idle(server: Serving) -> None:
    """No handler is at work, and none waits."""
    await server.settled()
    while server.server.server_state.tasks - {task for task in server.server.server_state.tasks if task.done()}:
        await server.settled()
