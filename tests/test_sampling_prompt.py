"""What is read of a prompt's logprobs: what the router sends, and each way in which it can be wrong."""

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_router.completions import completion_in
from faults.form import AboutPrompt, Form
from forwarder.sampling.decode import sampled_of
from forwarder.sampling.result import NO_LOGPROB
from forwarder.validate import InvalidResultError
from tests.completion_bodies import asked_for, plain, reply_of

TOKEN_IDS = st.integers(0, 2**31 - 1)


@given(st.lists(TOKEN_IDS, min_size=1, max_size=6), st.integers(0, 4), st.integers(1, 3))
def test_what_the_router_says_of_a_prompt_is_what_is_read(tokens: list[int], k: int, choices: int) -> None:
    """The own logprob of each token; and the k likeliest in their order, the own among them only where it is one."""
    body = completion_in(Form(about_prompt=AboutPrompt(likeliest=k, tokens=tuple(tokens))), 7, 3, choices)
    found = sampled_of(reply_of(body), asked_for(choices, prompt=tokens, prompt_logprobs=True, topk=k))
    entries = json.loads(body)["choices"][0]["prompt_logprobs"]
    own = [np.nan] + [entry[str(token)]["logprob"] for token, entry in zip(tokens[1:], entries[1:], strict=True)]
    assert np.array_equal(found.prompt_logprobs, np.array(own, dtype=np.float32), equal_nan=True)  # type: ignore[arg-type]
    if k == 0:
        assert found.topk is None
        return
    assert found.topk is not None
    assert found.topk.tokens.shape == found.topk.logprobs.shape == (len(tokens), k)
    assert found.topk.tokens[0].tolist() == [0] * k
    assert found.topk.logprobs[0].tolist() == [NO_LOGPROB] * k
    for at, entry in enumerate(entries[1:], start=1):
        ranked = sorted((value["rank"], int(token)) for token, value in entry.items())
        assert found.topk.tokens[at].tolist() == [token for _, token in ranked[:k]]


def test_only_what_was_asked_for_is_in_the_result() -> None:
    """The likeliest tokens without the prompt's own, and neither where neither was wanted."""
    body = completion_in(Form(about_prompt=AboutPrompt(likeliest=1, tokens=(3, 5, 6))), 7, 3, 1)
    found = sampled_of(reply_of(body), asked_for(topk=1))
    assert found.prompt_logprobs is None
    assert found.topk is not None
    assert sampled_of(reply_of(body), asked_for()).topk is None
    assert sampled_of(reply_of(plain(prompt_logprobs="nonsense")), asked_for()).prompt_logprobs is None


def test_they_are_those_of_the_choice_with_the_index_0() -> None:
    """Wherever it stands."""
    first, second = json.loads(plain(2))["choices"]
    body = json.dumps({"choices": [second | {"prompt_logprobs": []}, first | {"prompt_logprobs": [None]}]}).encode()
    asked = asked_for(2, prompt=[3], prompt_logprobs=True)
    assert np.isnan(sampled_of(reply_of(body), asked).prompt_logprobs).tolist() == [True]  # type: ignore[arg-type]


RIGHT: list[Any] = [
    None,
    {"5": {"logprob": -1, "rank": 9}, "1": {"logprob": -0.5, "rank": 1}},
    {"6": {"logprob": -0.1}},
]
WRONG: list[tuple[Any, Any, str]] = [
    (None, None, "no prompt_logprobs, though they were asked for"),
    (None, {}, "of another shape"),
    (None, "x", "of another shape"),
    (None, [], "0 prompt_logprobs; expected 3, one a token of the prompt"),
    (None, [None], "1 prompt_logprobs; expected 3"),
    (0, {"3": {"logprob": -1}}, "a logprob of the prompt's first token; expected null"),
    (1, None, "no logprob of the prompt's token 5 at 1"),
    (1, {"1": {"logprob": -0.5}}, "no logprob of the prompt's token 5 at 1"),
    (1, {}, "no logprob of the prompt's token 5 at 1"),
    (1, [], "of another shape"),
    (1, {"5": -1}, "of another shape"),
    (1, {"5": {}}, "of another shape"),
    (1, {"5": {"logprob": None}}, "of another shape"),
    (1, {"5": {"logprob": "-1"}}, "of another shape"),
    (1, {"5": {"logprob": True}}, "of another shape"),
    (1, {"5": {"logprob": -1, "rank": 0}}, "of another shape"),
    (1, {"5": {"logprob": -1, "rank": 1.5}}, "of another shape"),
    (1, {"five": {"logprob": -1}, "5": {"logprob": -1}}, "of another shape"),
    (1, {"05": {"logprob": -1}}, "of another shape"),
    (1, {"-5": {"logprob": -1}, "5": {"logprob": -1}}, "of another shape"),
    (1, {"2147483648": {"logprob": -1}, "5": {"logprob": -1}}, "of another shape"),
    (1, {"5": {"logprob": -1}, "1": {"logprob": -1}, "2": {"logprob": -1}}, "3 logprobs at 1 of the prompt"),
    (1, {"5": {"logprob": -1e39}}, "no float32 can hold"),
    (1, {"5": {"logprob": -1}, "1": {"logprob": -1e39}}, "no float32 can hold"),
]  # fmt: skip


@pytest.mark.parametrize(("at", "value", "says"), WRONG)
def test_what_is_not_what_was_asked_for_is_named(at: int | None, value: Any, says: str) -> None:
    """The rest of the answer is right: it is lost all the same, and not handed on without them."""
    found = copy.deepcopy(RIGHT)
    asked = asked_for(prompt_logprobs=True, topk=1)
    sampled_of(reply_of(plain(prompt_logprobs=found)), asked)
    if at is None:
        found = value
    else:
        found[at] = value
    with pytest.raises(InvalidResultError) as caught:
        sampled_of(reply_of(plain(prompt_logprobs=found)), asked)
    assert says in str(caught.value)
    assert "; the body begins" in str(caught.value)
