"""What an SDK may ask for, the status that refuses all else, and what makes two requests the same."""

import json
from typing import Any

import pytest

from forwarder.futures.key import Key
from forwarder.sampling.asample import WireError, sample_request
from tests.sample_bodies import asked, body, params


def test_the_router_gets_what_the_sdk_asked_for() -> None:
    """In the router's words, with the operation's key in a header."""
    sample = asked()
    assert json.loads(sample.request.body) == {
        "model": "m", "prompt": [3, 5, 6], "n": 2, "seed": 3, "max_tokens": 8, "temperature": 0.7, "top_p": 1.0,
        "top_k": -1, "logprobs": 1, "stream": False, "return_token_ids": True, "prompt_logprobs": 0,
        "stop_token_ids": [13],
    }  # fmt: skip
    assert sample.headers == {"X-Session-ID": "s-1:0"}
    assert sample.key == Key(sampling_session_id="s-1", seq_id=0)
    assert sample.request.asked == sample.asked.router
    assert sample.asked.router.token_ids
    assert sample.asked.router.logprobs


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (None, {}),
        ([], {}),
        ("a", {"stop": ["a"]}),
        (["a", "b"], {"stop": ["a", "b"]}),
        ([13, 14], {"stop_token_ids": [13, 14]}),
    ],
)
def test_a_stop_is_texts_or_token_ids(stop: Any, expected: dict[str, Any]) -> None:
    """The router has a field for each."""
    sent = json.loads(asked(sampling_params=params(stop=stop)).request.body)
    assert {key: sent[key] for key in ("stop", "stop_token_ids") if key in sent} == expected


@pytest.mark.parametrize(
    ("prompt_logprobs", "topk", "sent"), [(None, 0, None), (False, 0, None), (True, 0, 0), (True, 2, 2), (None, 2, 2)]
)
def test_the_prompts_logprobs_are_asked_for_only_where_the_sdk_wants_some(
    prompt_logprobs: bool | None, topk: int, sent: int | None
) -> None:
    """They cost the router a forward pass over the whole prompt."""
    sample = asked(prompt_logprobs=prompt_logprobs, topk_prompt_logprobs=topk)
    assert json.loads(sample.request.body).get("prompt_logprobs") == sent
    assert sample.asked.of_prompt is (sent is not None)


def test_what_is_left_out_has_the_sdks_defaults_and_no_seed() -> None:
    """One sample, drawn freely."""
    bare = asked(num_samples=None, sampling_params={"max_tokens": 1}, prompt_logprobs=None, type=None)
    sent = json.loads(bare.request.body)
    assert (sent["n"], sent["temperature"], sent["top_p"], sent["top_k"]) == (1, 1.0, 1.0, -1)
    assert "seed" not in sent


REFUSED: list[tuple[int, dict[str, Any], str]] = [
    (400, {"sampling_params": params(max_tokens=None)}, "max_tokens is None; expected a positive integer"),
    (400, {"sampling_params": params(max_tokens=0)}, "max_tokens is 0"),
    (400, {"sampling_params": params(max_tokens=-5)}, "max_tokens is -5"),
    (400, {"sampling_session_id": "a:b"}, "is 'a:b'; expected one without ':'"),
    (400, {"sampling_session_id": "a:b", "seq_id": None}, "is 'a:b'"),
    (422, {"seq_id": None}, "sampling_session_id is 's-1' and seq_id is None; expected both"),
    (422, {"sampling_session_id": None}, "sampling_session_id is None and seq_id is 0; expected both"),
    (422, {"sampling_session_id": None, "seq_id": None, "base_model": "m"}, "expected both"),
    (422, {"base_model": "m"}, "beside a sampling session"),
    (422, {"seq_id": -1}, "seq_id"),
    (422, {"seq_id": 2**63}, "seq_id"),
    (422, {"seq_id": True}, "seq_id"),
    (422, {"seq_id": "0"}, "seq_id"),
    (422, {"num_samples": 0}, "num_samples"),
    (422, {"num_samples": 1025}, "num_samples"),
    (422, {"topk_prompt_logprobs": -1}, "topk_prompt_logprobs"),
    (422, {"topk_prompt_logprobs": 1025}, "topk_prompt_logprobs"),
    (422, {"type": "train"}, "train"),
    (422, {"best_of": 3}, "unknown field `best_of`"),
    (422, {"sampling_params": params(min_p=0.1)}, "unknown field `min_p`"),
    (422, {"sampling_params": params(max_tokens=2**31)}, "max_tokens"),
    (422, {"sampling_params": params(max_tokens=1.5)}, "max_tokens"),
    (422, {"sampling_params": params(temperature=-0.1)}, "temperature"),
    (422, {"sampling_params": params(top_p=0)}, "top_p"),
    (422, {"sampling_params": params(top_p=1.1)}, "top_p"),
    (422, {"sampling_params": params(top_k=-2)}, "top_k"),
    (422, {"sampling_params": params(seed=2**63)}, "seed"),
    (422, {"sampling_params": params(stop=["a", 1])}, "expected texts alone, or token ids alone"),
    (422, {"sampling_params": params(stop=[-1])}, "stop"),
    (422, {"sampling_params": params(stop=13)}, "stop"),
    (422, {"prompt": {"chunks": []}}, "the prompt has no tokens"),
    (422, {"prompt": {"chunks": [{"type": "encoded_text", "tokens": []}]}}, "the prompt has no tokens"),
    (422, {"prompt": {"chunks": [{"type": "encoded_text", "tokens": [2**31]}]}}, "tokens"),
    (422, {"prompt": {"chunks": [{"type": "image", "data": "", "format": "png"}]}}, "image"),
    (422, {"prompt": None}, "prompt"),
    (422, {"sampling_params": None}, "sampling_params"),
]


@pytest.mark.parametrize(("status", "changes", "says"), REFUSED)
def test_what_cannot_be_right_is_refused_before_anybody_looks_for_its_session(
    status: int, changes: dict[str, Any], says: str
) -> None:
    """With the status that the SDK does not take for "try again"; the message names what was wrong."""

    def model_of(session: str) -> str:
        raise AssertionError(session)

    with pytest.raises(WireError) as caught:
        sample_request(json.dumps(body(**changes)).encode(), model_of)
    assert caught.value.status == status
    assert says in caught.value.says


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"type":"sample"}', b"[" * 100_000, b"1e999", b"{}x"])
def test_what_is_no_object_of_json_is_refused(data: bytes) -> None:
    """422, and no other error."""
    with pytest.raises(WireError) as caught:
        sample_request(data, lambda session: "m")
    assert caught.value.status == 422


def test_an_unknown_session_is_what_its_owner_says_of_it() -> None:
    """The error passes through as it is."""

    def model_of(session: str) -> str:
        raise LookupError(session)

    with pytest.raises(LookupError, match="s-1"):
        sample_request(json.dumps(body()).encode(), model_of)


SAME: list[dict[str, Any]] = [
    {"prompt": {"chunks": [{"tokens": [3], "type": "encoded_text"}, {"tokens": [5, 6]}]}},
    {"type": None},
    {"topk_prompt_logprobs": None},
    {"sampling_params": dict(reversed(params(top_p=1, temperature=0.70, top_k=None).items()))},
]
OTHER: list[dict[str, Any]] = [
    {"num_samples": 1},
    {"prompt_logprobs": None},
    {"topk_prompt_logprobs": 1},
    {"topk_prompt_logprobs": 1, "prompt_logprobs": None},
    {"prompt": {"chunks": [{"tokens": [3, 5, 7]}]}},
    {"prompt": {"chunks": [{"tokens": [3, 56]}]}},
    *({"sampling_params": params(**{name: value})} for name, value in params(max_tokens=9, seed=4, stop="13").items()
      if name in ("max_tokens", "seed", "stop")),
    {"sampling_params": params(temperature=0.71)},
    {"sampling_params": params(top_k=1)},
    {"sampling_params": params(top_p=0.5)},
]  # fmt: skip


def test_the_digest_is_of_what_was_asked_for_not_of_how_it_was_written() -> None:
    """The order of keys, white space, defaults that are written or left out, and how a prompt is cut are all one."""
    first = asked().digest
    assert [asked(**changes).digest == first for changes in SAME] == [True] * len(SAME)
    spaced = json.dumps(dict(reversed(body().items())), indent=3).encode()
    assert sample_request(spaced, lambda session: "m").digest == first
    assert asked(seq_id=1).digest == first


def test_whatever_else_was_asked_for_has_another_digest() -> None:
    """No two of them the same."""
    digests = {asked(**changes).digest for changes in ({}, *OTHER)}
    assert len(digests) == len(OTHER) + 1
