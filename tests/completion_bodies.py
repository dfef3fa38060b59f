"""Bodies of completions for the tests of what reads them: right ones, wrong ones of the router, and spoilt ones."""

import json
from copy import deepcopy
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fake_router.replies import body_of
from faults.vocabulary import Content
from forwarder.reply import Reply
from forwarder.sampling.result import TOKEN, SampleAsked

JSON_TYPE = "application/json"


def reply_of(body: bytes, type_: str = JSON_TYPE) -> Reply:
    """A whole 200."""
    return Reply(url="http://r", status=200, body=body, content_type=type_)


def asked_for(choices: int = 1, **changes: Any) -> SampleAsked:
    """Samples of three tokens of a prompt, and nothing about it."""
    given: dict[str, Any] = {"max_tokens": 8, "prompt": [3, 5, 6], "prompt_logprobs": False, "topk": 0} | changes
    return SampleAsked(choices=choices, **given | {"prompt": np.array(given["prompt"], dtype=TOKEN)})


def plain(choices: int = 1, **changes: Any) -> bytes:
    """A right completion, with parts of each choice changed. Its texts hold brackets and what JSON must escape."""
    made = [
        {
            "index": index,
            "text": 'a [0] "b"\n',
            "token_ids": [31_337, 7, index],
            "logprobs": {"tokens": ["[", "]", "c"], "token_logprobs": [-0.5, -1e-3, 0], "top_logprobs": None},
            "finish_reason": "length",
            "stop_reason": None,
        }
        | changes
        for index in range(choices)
    ]
    return json.dumps({"id": "cmpl-1", "object": "text_completion", "choices": made, "usage": {"n": [1]}}).encode()


def of_the_router(content: Content, choices: int) -> tuple[str, bytes]:
    """Content type and body, as the router sends that content."""
    return body_of(content, 7, 3, choices)


_ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.0, 0.5, -1e300, 2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**25, "", "stop", "[1]",
    "\u0000", [], [1], [[1], [2], [3]], [[-0.5], [0.5], [1.5]], [1, [2], 3], {}, {"token_logprobs": [1]}, [None],
    [True, 1, 1],
)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[int, bytes]:
    """How many choices are asked for, and a completion in which one to three things are not as they were."""
    choices = draw(st.integers(1, 3))
    value = json.loads(plain(draw(st.sampled_from((choices, choices, choices + 1)))))
    for _ in range(draw(st.integers(1, 2))):
        _change(draw, value)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1))))
    if draw(st.booleans()):
        text = _doubled(draw, text)
    body = text.encode()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(body)))
        by = draw(
            st.sampled_from((b"", b"[", b"]", b",", b"\x00", b"\xff", b"0", b"-", b"NaN", b" ", b"\xef\xbb\xbf", b'"'))
        )
        body = body[:at] + by + body[at + draw(st.integers(0, 2)) :]
    return choices, body


def _change(draw: st.DrawFn, value: Any) -> None:
    """Somewhere in it, something is put in the place of something else, or taken out."""
    while True:
        places = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not places:
            return
        place = draw(st.sampled_from(places))
        inner = value[place]
        if isinstance(inner, dict | list) and inner and draw(st.integers(0, 3)):
            value = inner
            continue
        if draw(st.booleans()):
            value[place] = deepcopy(draw(st.sampled_from(_ODD)))
        else:
            del value[place]
        return


def _doubled(draw: st.DrawFn, text: str) -> str:
    """One of its keys comes twice, first or last with another value."""
    key = draw(st.sampled_from(("token_ids", "token_logprobs", "choices", "index", "finish_reason", "error", "text")))
    other = json.dumps(draw(st.sampled_from(_ODD)))
    at = text.find(f'"{key}"')
    return text if at < 0 else f'{text[:at]}"{key}": {other}, {text[at:]}'
