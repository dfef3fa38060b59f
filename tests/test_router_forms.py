"""Chat and streams at the router: whose they are, how they are answered, and that each piece names its work."""

import json

import pytest

from fake_router.content import (
    MAX_NUMBER,
    operation_in,
    operation_in_messages,
    prompt_text,
    result_text,
    result_tokens,
    step_text,
    step_tokens,
    streamed_result,
)
from fake_router.entries import Received, Striking
from fake_router.forms import DONE, in_form, stream_events
from fake_router.replies import body_of
from faults.answer import STREAM_STEPS
from faults.form import COMPLETION, Api, Form
from faults.vocabulary import Content, Sight
from suites.events import streamed_in
from suites.workload import completion_request
from tests.router_client import Client, asking, one, request, staged

CHAT = Form(api=Api.CHAT)
STREAMS = [Form(api=api, stream=True) for api in Api]


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("retryproof operation 7", 7),
        ("<s>[INST] retryproof operation 12\n[/INST]", 12),
        ("retryproof operation 7, retryproof operation 7", 7),
        (prompt_text(MAX_NUMBER), MAX_NUMBER),
        ("retryproof operation 7 or retryproof operation 8", None),
        ("retryproof operation 07", None),
        ("retryproof operation 0", None),
        (f"retryproof operation {MAX_NUMBER + 1}", None),
        ("retryproof operation 7x", None),
        ("an unretryproof operation 7", None),
        ("retryproof  operation 7", None),
        ("", None),
    ],
)
def test_a_text_carries_the_operation_of_its_marker(text: str, operation: int | None) -> None:
    """Exactly as it was written, whatever stands around it; two different ones are none."""
    assert operation_in(text) == operation
    assert operation_in_messages([{"role": "user", "content": text}]) == operation
    parts = [{"type": "image_url"}, {"type": "text", "text": text}]
    assert operation_in_messages([{"role": "system", "content": "be brief"}, {"content": parts}]) == operation


@pytest.mark.parametrize(
    "messages", [None, "retryproof operation 1", {}, [1], [{"content": 1}], [{"content": [{}, 2]}]]
)
def test_what_is_no_list_of_messages_carries_nothing(messages: object) -> None:
    """Whatever it is, it is read without an error."""
    assert operation_in_messages(messages) is None


def test_a_whole_chat_names_its_work_in_text_and_tokens() -> None:
    """As a whole completion does."""
    content_type, body = body_of(Content.RESULT, 12, 34, 2, CHAT)
    assert content_type == "application/json"
    for index, choice in enumerate(json.loads(body)["choices"]):
        assert choice["token_ids"] == result_tokens(12, 34, index)
        assert choice["message"]["content"] == result_text(12, 34, index)
        assert len(choice["logprobs"]["content"]) == len(choice["token_ids"])


@pytest.mark.parametrize("form", STREAMS)
def test_every_event_of_a_stream_names_its_work_and_the_last_one_its_reason(form: Form) -> None:
    """One event a step and choice; together they are the result."""
    events = [json.loads(event.removeprefix(b"data: ")) for event in stream_events(form.api, 12, 34, 2)]
    assert len(events) == 2 * STREAM_STEPS
    for at, event in enumerate(events):
        step, index = divmod(at, 2)
        (choice,) = event["choices"]
        text = choice["delta"]["content"] if form.api is Api.CHAT else choice["text"]
        assert (choice["index"], choice["token_ids"]) == (index, step_tokens(12, 34, index, step))
        assert text == step_text(12, 34, index, step)
        assert (choice["finish_reason"] == "stop") is (step == STREAM_STEPS - 1)
    assert len({event["id"] for event in events}) == 1
    streamed = streamed_in(in_form(form, 12, 34, 2), form.api)
    assert streamed.complete
    assert streamed.events == len(events)
    assert {i: (list(tokens), text) for i, (tokens, text) in streamed.choices.items()} == {
        i: streamed_result(12, 34, i) for i in (0, 1)
    }


def test_a_whole_completion_is_made_elsewhere() -> None:
    """There is one maker of each form."""
    with pytest.raises(ValueError, match="expected chat or a stream"):
        in_form(COMPLETION, 1, 1, 1)


@pytest.mark.parametrize("form", [CHAT, *STREAMS])
def test_the_router_answers_in_the_form_that_was_asked_for(form: Form) -> None:
    """And says in the ledger which one that was; a stream is chunked."""
    data = request(json.dumps(completion_request(7, form)).encode(), target=form.api.path)
    with staged() as stage, Client(stage.port) as client:
        seen = client.ask(data)
        (received,) = stage.of(Received)
    assert seen.sight is Sight.WHOLE
    assert seen.body == body_of(Content.RESULT, 7, 1, 1, form)[1]
    headers = dict(seen.headers)
    assert (headers.get(b"transfer-encoding") == b"chunked") is form.stream
    assert headers[b"content-type"].startswith(b"text/event-stream") is form.stream
    assert seen.body.endswith(DONE) is form.stream
    assert (received.operation, received.api, received.stream) == (7, form.api, form.stream)


def test_a_peer_of_http_10_gets_no_stream() -> None:
    """It could not read the chunks (RFC 9112 s6.1)."""
    body = json.dumps(completion_request(7, Form(stream=True))).encode()
    data = request(body).replace(b"HTTP/1.1", b"HTTP/1.0")
    with staged() as stage, Client(stage.port) as client:
        seen = client.ask(data)
    assert seen.status == 400
    assert b"stream for HTTP/1.0" in seen.body


def test_a_fault_of_streams_does_not_strike_whoever_asked_for_none() -> None:
    """It is as if it were not armed: the ledger has no strike, and the answer is whole."""
    with staged() as stage, Client(stage.port) as client:
        stage.arm(one("stream-in-event-fin"), first=7)
        seen = client.ask(asking(7, Form()))
        assert stage.of(Striking) == []
    assert (seen.sight, seen.body) == (Sight.WHOLE, body_of(Content.RESULT, 7, 1, 1)[1])
