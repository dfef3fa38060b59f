"""A prompt's logprobs as vLLM writes them, and a ledger from which a judge computes the same bytes again."""

from typing import Any

import msgspec
import pytest

from fake_router.completions import completion
from fake_router.content import MAGIC, MAX_NUMBER, prompt_tokens
from fake_router.prompt_logprobs import prompt_logprobs
from fake_router.replies import render
from fake_router.routes import MAX_LIKELIEST, Refusal, Work, work_in
from faults.acts import HEALTHY
from faults.form import STREAM, AboutPrompt, Api, Form
from suites.reader import Reader
from tests.router_client import Client, staged, work

OPERATION = 7


@pytest.mark.parametrize("likeliest", [0, 1, 2, 5])
@pytest.mark.parametrize("own", [0, 1, 6, 7, MAX_NUMBER - 1, MAX_NUMBER])
def test_an_entry_holds_the_likeliest_and_the_prompts_own(likeliest: int, own: int) -> None:
    """k + 1 of them where the own is not among the likeliest; the better the rank, the greater the logprob."""
    first, entry = prompt_logprobs(AboutPrompt(likeliest=likeliest, tokens=(MAGIC, own)))
    assert first is None
    assert entry is not None
    among = own % 2 == 0 and likeliest > 0
    assert len(entry) == likeliest + (not among)
    assert (entry[str(own)]["rank"] <= likeliest) is among
    assert all(0 <= int(token) <= MAX_NUMBER for token in entry)
    ranks = sorted((found["rank"], -found["logprob"]) for found in entry.values())
    assert sorted(cost for _, cost in ranks) == [cost for _, cost in ranks]
    assert [rank for rank, _ in ranks][:likeliest] == list(range(1, likeliest + 1))


def test_what_is_sent_is_what_a_judge_computes_from_the_ledger() -> None:
    """Each choice has the list, beside all that a completion without it has."""
    with staged() as stage, Client(stage.port) as client:
        client.send(work(OPERATION, n=2, prompt_logprobs=3))
        seen = client.see()
        (attempt,) = Reader.of(stage.entries()).attempts
        assert attempt.form == Form(about_prompt=AboutPrompt(likeliest=3, tokens=tuple(prompt_tokens(OPERATION))))
        assert attempt.execution is not None
        reply = render(HEALTHY, OPERATION, attempt.execution, attempt.choices, attempt.form)
        assert b"".join(part for part in reply.parts if isinstance(part, bytes)).endswith(seen.body)
        found = msgspec.json.decode(seen.body)
        lists = [choice.pop("prompt_logprobs") for choice in found["choices"]]
        assert found == msgspec.json.decode(completion(OPERATION, attempt.execution, 2))
        assert [[len(entry or ()) for entry in entries] for entries in lists] == [[0, 4], [0, 4]]


@pytest.mark.parametrize(
    "asked",
    [
        {"prompt": "text", "prompt_logprobs": 0},
        {"prompt": [], "prompt_logprobs": 0},
        {"prompt": [1, 2**31], "prompt_logprobs": 0},
        {"prompt": [1], "prompt_logprobs": -1},
        {"prompt": [1], "prompt_logprobs": MAX_LIKELIEST + 1},
        {"prompt": [1], "prompt_logprobs": "2"},
    ],
)
def test_what_cannot_be_answered_is_refused(asked: dict[str, Any]) -> None:
    """Of a text this router knows no tokens."""
    assert isinstance(work_in(msgspec.json.encode(asked)), Refusal)


def test_nothing_is_said_of_the_prompt_of_a_stream_or_of_a_chat() -> None:
    """Such a form cannot be made, and whoever asks for it is answered without."""
    work = work_in(b'{"prompt":[1],"stream":true,"prompt_logprobs":1}')
    assert isinstance(work, Work)
    assert work.form is STREAM
    for wrong in ({"stream": True}, {"api": Api.CHAT}):
        with pytest.raises(ValueError, match="of a stream or a chat"):
            Form(about_prompt=AboutPrompt(likeliest=0, tokens=(1,)), **wrong)
