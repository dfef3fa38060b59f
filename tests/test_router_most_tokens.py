"""A router never gives more tokens than it was asked for, and a judge knows how many it gave."""

import msgspec
import pytest

from fake_router.completions import completion
from fake_router.content import RESULT_TOKENS, logprob_of, result_tokens
from fake_router.forms import chat_completion
from fake_router.replies import render
from fake_router.routes import Refusal, Work, work_in
from faults.acts import HEALTHY
from faults.form import COMPLETION, STREAM, Api, Form
from suites.checks.results import results_of
from suites.reader import Reader
from tests.router_client import Client, staged, work

OPERATION = 7


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_completion_is_cut_where_fewer_tokens_were_asked_for(most: int) -> None:
    """It ends by its length, and judge and router have the same bytes and tokens for it."""
    with staged() as stage, Client(stage.port) as client:
        client.send(work(OPERATION, n=2, max_tokens=most))
        seen = client.see()
        (attempt,) = Reader.of(stage.entries()).attempts
    assert attempt.form == Form(most_tokens=most)
    assert attempt.execution is not None
    reply = render(HEALTHY, OPERATION, attempt.execution, attempt.choices, attempt.form)
    assert b"".join(part for part in reply.parts if isinstance(part, bytes)).endswith(seen.body)
    choices = msgspec.json.decode(seen.body)["choices"]
    held = tuple((tuple(choice["token_ids"]), choice["text"]) for choice in choices)
    assert held == results_of(OPERATION, attempt.execution, attempt)
    for index, choice in enumerate(choices):
        assert choice["token_ids"] == result_tokens(OPERATION, attempt.execution, index)[:most]
        assert choice["logprobs"]["token_logprobs"] == [logprob_of(token) for token in choice["token_ids"]]
        assert choice["finish_reason"] == "length"


def test_a_cut_completion_holds_the_logprobs_of_its_prompt_too() -> None:
    """As one is asked for that is about its prompt alone."""
    with staged() as stage, Client(stage.port) as client:
        client.send(work(OPERATION, max_tokens=1, prompt_logprobs=0))
        (choice,) = msgspec.json.decode(client.see().body)["choices"]
        (attempt,) = Reader.of(stage.entries()).attempts
    assert (len(choice["token_ids"]), len(choice["prompt_logprobs"])) == (1, 2)
    assert (attempt.form.most_tokens, attempt.form.about_prompt is None) == (1, False)


def test_who_asks_for_as_many_as_there_are_gets_them_all() -> None:
    """The form is the usual one, whose bytes are made quickly; so is that of a stream and a chat."""
    enough = work_in(b'{"prompt":[1],"max_tokens":%d}' % RESULT_TOKENS)
    stream = work_in(b'{"prompt":[1],"stream":true,"max_tokens":1}')
    chat = work_in(b'{"messages":[],"max_tokens":1}', Api.CHAT)
    assert isinstance(enough, Work)
    assert enough.form is COMPLETION
    assert isinstance(stream, Work)
    assert stream.form is STREAM
    assert isinstance(chat, Work)
    assert chat.form.is_bare
    for made in (completion(OPERATION, 1, 1), chat_completion(OPERATION, 1, 1)):
        assert msgspec.json.decode(made)["usage"]["completion_tokens"] == RESULT_TOKENS


def test_a_negative_number_is_refused_and_a_form_that_cannot_be_cut_is_none() -> None:
    """Each by its value."""
    assert isinstance(work_in(b'{"prompt":[1],"max_tokens":-1}'), Refusal)
    with pytest.raises(ValueError, match="at most 1 tokens, of a stream or a chat"):
        Form(stream=True, most_tokens=1)
