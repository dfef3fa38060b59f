"""Replies: pure functions of act, operation, execution and choices, which a judge computes again."""

import math
from typing import Any

import h11
import msgspec
import pytest

from fake_router.content import result_text, result_tokens
from fake_router.replies import Reply, body_of, render, small_json
from faults.acts import HEALTHY, Answer, is_listener_act
from faults.catalogue import CATALOGUE
from faults.contents import fixed_content
from faults.fault import Fault
from faults.vocabulary import Content, Cut, Framing, Side

ANSWERS = [fault for fault in CATALOGUE.values() if isinstance(fault.act, Answer)]


def _read(reply: Reply) -> tuple[h11.Response, bytes, bool]:
    """Head, body and wholeness as a strict HTTP/1.1 client reads them."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("Host", "h")]))
    client.send(h11.EndOfMessage())
    client.receive_data(reply.head + reply.body)
    head = client.next_event()
    assert isinstance(head, h11.Response)
    body = b""
    while isinstance(event := client.next_event(), h11.Data):
        body += bytes(event.data)
    return head, body, isinstance(event, h11.EndOfMessage)


def _answer(fault: Fault) -> Answer:
    assert isinstance(fault.act, Answer)
    return fault.act


@pytest.mark.parametrize("choices", [1, 3])
def test_a_result_has_the_shape_of_a_completion_and_names_its_work(choices: int) -> None:
    """Tokens and text of every choice name operation, execution and choice; there is a finite logprob a token."""
    content_type, body = body_of(Content.RESULT, 12, 34, choices)
    assert content_type == "application/json"
    completion: dict[str, Any] = msgspec.json.decode(body)
    assert completion["object"] == "text_completion"
    assert [choice["index"] for choice in completion["choices"]] == list(range(choices))
    for index, choice in enumerate(completion["choices"]):
        assert choice["token_ids"] == result_tokens(12, 34, index)
        assert choice["text"] == result_text(12, 34, index)
        assert choice["finish_reason"] == "stop"
        logprobs = choice["logprobs"]
        assert len(logprobs["tokens"]) == len(logprobs["token_logprobs"]) == len(choice["token_ids"])
        assert all(math.isfinite(logprob) and logprob <= 0 for logprob in logprobs["token_logprobs"])
    usage = completion["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["completion_tokens"] == 4 * choices


def test_two_executions_of_one_operation_have_different_bodies() -> None:
    assert body_of(Content.RESULT, 1, 2, 1) != body_of(Content.RESULT, 1, 3, 1)
    assert body_of(Content.RESULT, 1, 2, 1) != body_of(Content.RESULT, 2, 2, 1)


@pytest.mark.parametrize("content", [content for content in Content if content is not Content.RESULT])
def test_every_other_body_depends_on_the_content_alone(content: Content) -> None:
    assert body_of(content, 1, 2, 3) == body_of(content, None, 0, 1) == fixed_content(content)


@pytest.mark.parametrize("fault", ANSWERS, ids=lambda fault: fault.id)
def test_a_client_reads_what_the_act_says(fault: Fault) -> None:
    act = _answer(fault)
    reply = render(act, 5, 6, 2)
    head, body, whole = _read(reply)
    content_type, content = body_of(act.content, 5, 6, 2)
    headers = dict(head.headers)
    assert head.status_code == reply.status == act.status
    assert headers[b"content-type"] == content_type.encode()
    assert (b"transfer-encoding" in headers) is (act.framing is Framing.CHUNKED)
    assert headers.get(b"retry-after") == (None if act.retry_after_s is None else b"%d" % act.retry_after_s)
    assert body == (content[: len(content) // 2] if act.cut is Cut.HALF else content)
    assert whole is (act.cut is None)
    assert (len(reply.head) + len(reply.body) == reply.of_bytes) is (act.cut is None)


@pytest.mark.parametrize("fault", ANSWERS, ids=lambda fault: fault.id)
def test_replies_of_twins_are_the_same_bytes(fault: Fault) -> None:
    twin = CATALOGUE[fault.twin].act if fault.twin else None
    if isinstance(twin, Answer) and not is_listener_act(twin):
        assert render(_answer(fault), 5, 6, 1) == render(twin, 5, 0, 1)


def test_a_reply_is_the_same_however_often_it_is_computed() -> None:
    assert render(HEALTHY, 5, 6, 1) == render(HEALTHY, 5, 6, 1)
    assert render(HEALTHY, None, 6, 1).body == body_of(Content.RESULT, 0, 6, 1)[1]


def test_a_reply_that_ends_its_connection_says_so() -> None:
    assert b"\r\nConnection: close\r\n" in render(HEALTHY, 1, 1, 1, close=True).head
    assert b"Connection" not in render(HEALTHY, 1, 1, 1).head


def test_an_empty_body_has_length_zero() -> None:
    _, body, whole = _read(render(Answer(side=Side.AFTER, content=Content.EMPTY), 1, 1, 1))
    assert (body, whole) == (b"", True)


def test_a_small_answer_to_head_announces_its_body_and_withholds_it() -> None:
    data = small_json(200, {"status": "ok"}, close=False, body_withheld=True)
    assert b"Content-Length: 15\r\n" in data
    assert data.endswith(b"\r\n\r\n")
