"""Replies: pure functions of act, operation, execution and choices, which a judge computes again."""

import math
from typing import Any

import msgspec
import pytest

from fake_router.completions import completion
from fake_router.content import MAX_NUMBER, result_text, result_tokens
from fake_router.replies import NO_OPERATION, Reply, body_of, bytes_of, content_of, render, small_json
from faults.acts import HEALTHY, needs_stream
from faults.answer import Answer
from faults.catalogue import CATALOGUE, fault_named
from faults.contents import fixed_content, is_fixed
from faults.coverage import COSTLY
from faults.fault import Fault
from faults.sight import cut_can_be_seen
from faults.vocabulary import Content, Ending, Framing, Side, Sight
from tests.reply_reader import ReplyReader, Seen

# Streams have tests of their own.
ANSWERS = [fault for fault in CATALOGUE.values() if isinstance(fault.act, Answer) and not needs_stream(fault.act)]


def _bytes(reply: Reply) -> bytes:
    """What is sent, without the gaps and without padding."""
    return b"".join(part for part in reply.parts if isinstance(part, bytes))


def _seen(act: Answer, reply: Reply) -> Seen:
    """The reply as a strict HTTP/1.1 client reads it whose connection then ends as the act ends it."""
    reader = ReplyReader()
    seen = reader.feed(_bytes(reply))
    ends = {Ending.FIN: Sight.FIN, None: Sight.SILENCE}
    return reader.ended(ends.get(act.ending, Sight.RESET)) if seen is None else seen


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


@pytest.mark.parametrize("operation", [NO_OPERATION, 1, 7, 31_337, MAX_NUMBER - 2, MAX_NUMBER - 1, MAX_NUMBER])
def test_a_single_choice_is_the_first_of_several(operation: int) -> None:
    """What is filled in for one choice, and what is built for many, are the same bytes, whatever the numbers."""
    for execution in (*range(1, 9), MAX_NUMBER - 1):
        one = msgspec.json.decode(body := completion(operation, execution, 1))
        first = msgspec.json.decode(completion(operation, execution, 2))
        assert first | {"choices": first["choices"][:1], "usage": one["usage"]} == one
        assert msgspec.json.encode(one) == body


def test_two_executions_of_one_operation_have_different_bodies() -> None:
    assert body_of(Content.RESULT, 1, 2, 1) != body_of(Content.RESULT, 1, 3, 1)
    assert body_of(Content.RESULT, 1, 2, 1) != body_of(Content.RESULT, 2, 2, 1)


@pytest.mark.parametrize("content", [content for content in Content if is_fixed(content)])
def test_a_body_that_names_no_operation_depends_on_the_content_alone(content: Content) -> None:
    assert body_of(content, 1, 2, 3) == body_of(content, None, 0, 1) == fixed_content(content)


@pytest.mark.parametrize("fault", ANSWERS, ids=lambda fault: fault.id)
def test_a_client_reads_what_the_act_says(fault: Fault) -> None:
    act = _answer(fault)
    reply = render(act, 5, 6, 2)
    seen = _seen(act, reply)
    assert reply.status == act.status
    assert reply.complete is not act.incomplete
    assert seen.interim == act.interim
    if seen.status is None:
        assert fault.evidence.sight in (Sight.HEAD_CUT, Sight.FLAWED)
        return
    headers = dict(seen.headers)
    assert seen.status == act.status
    assert (b"transfer-encoding" in headers) is (act.framing in (Framing.CHUNKED, Framing.TRAILERS))
    assert headers.get(b"retry-after") == (None if act.retry_after_s is None else b"%d" % act.retry_after_s)
    assert (b"location" in headers) is (300 <= act.status < 400)
    assert (b"content-encoding" in headers) is (act.coding is not None)


@pytest.mark.parametrize("fault", [fault for fault in ANSWERS if fault.coverage is not COSTLY], ids=lambda f: f.id)
def test_a_reply_is_whole_exactly_where_its_act_lets_it_be(fault: Fault) -> None:
    """The content that a judge computes is what a client then holds."""
    act = _answer(fault)
    reply = render(act, 5, 6, 2)
    seen = _seen(act, reply)
    content = content_of(act, 5, 6, 2)
    if seen.sight in (Sight.WHOLE, Sight.STATUS):
        assert seen.body == content or not cut_can_be_seen(act)
        assert not act.incomplete or not cut_can_be_seen(act)
    else:
        assert content.startswith(seen.body)
        assert act.incomplete or fault.evidence.sight is Sight.FLAWED
    assert (bytes_of(reply) >= reply.of_bytes) is (act.cut is None)


@pytest.mark.parametrize("fault", ANSWERS, ids=lambda fault: fault.id)
def test_replies_of_twins_are_the_same_bytes(fault: Fault) -> None:
    twin = fault_named(fault.twin).act if fault.twin else None
    if isinstance(twin, Answer):
        assert render(_answer(fault), 5, 6, 1).parts == render(twin, 5, 0, 1).parts


def test_a_reply_is_the_same_however_often_it_is_computed() -> None:
    assert render(HEALTHY, 5, 6, 1) == render(HEALTHY, 5, 6, 1)
    assert _bytes(render(HEALTHY, None, 6, 1)).endswith(body_of(Content.RESULT, 0, 6, 1)[1])


def test_a_reply_that_ends_its_connection_says_so() -> None:
    assert b"\r\nConnection: close\r\n" in _bytes(render(HEALTHY, 1, 1, 1, close=True))
    assert b"Connection" not in _bytes(render(HEALTHY, 1, 1, 1))


def test_an_empty_body_has_length_zero() -> None:
    act = Answer(side=Side.AFTER, content=Content.EMPTY)
    seen = _seen(act, render(act, 1, 1, 1))
    assert (seen.sight, seen.body) == (Sight.WHOLE, b"")


def test_a_small_answer_to_head_announces_its_body_and_withholds_it() -> None:
    data = small_json(200, {"status": "ok"}, close=False, body_withheld=True)
    assert b"Content-Length: 15\r\n" in data
    assert data.endswith(b"\r\n\r\n")
