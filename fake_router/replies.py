"""The reply as a pure function of act, operation, execution and choices, so that a judge can compute it again.

A result names its operation and its execution in its tokens and in its text; every other body depends on the
fault alone.
"""

from typing import NamedTuple

import msgspec

from fake_router.content import result_text, result_tokens
from fake_router.forms import CREATED, MODEL, PROMPT_TOKENS, STREAM_TYPE, in_form
from fake_router.wire import LAST_CHUNK, chunk, head
from faults.acts import Answer
from faults.contents import JSON_TYPE, fixed_content
from faults.form import COMPLETION, Form
from faults.vocabulary import Content, Cut, Framing

NO_OPERATION = 0  # the number in the result of a request whose prompt carries no operation

_encode = msgspec.json.Encoder().encode


class Reply(NamedTuple):
    """The bytes to send. `body` is framed, and cut where the act cuts; `of_bytes` is the size of the whole reply."""

    status: int
    head: bytes
    body: bytes
    of_bytes: int


def body_of(
    content: Content, operation: int | None, execution: int, choices: int, form: Form = COMPLETION
) -> tuple[str, bytes]:
    """Content type and whole body, without framing. `execution` is 0 where nothing was executed."""
    if content is not Content.RESULT:
        return fixed_content(content)
    number = NO_OPERATION if operation is None else operation
    if form != COMPLETION:
        return STREAM_TYPE if form.stream else JSON_TYPE, in_form(form, number, execution, choices)
    return JSON_TYPE, _completion(number, execution, choices)


def render(
    act: Answer,
    operation: int | None,
    execution: int,
    choices: int,
    form: Form = COMPLETION,
    *,
    close: bool = False,
    body_withheld: bool = False,
) -> Reply:
    """The reply that the act sends to a request of that form. `close` adds `Connection: close`; `body_withheld` answers
    a HEAD. A stream is chunked: its length is not known when it begins.

    A cut takes half of the content (rounded down), or the last chunk.
    """
    content_type, body = body_of(act.content, operation, execution, choices, form)
    chunked = act.framing is Framing.CHUNKED or (form.stream and act.content is Content.RESULT)
    extra = () if act.retry_after_s is None else (("Retry-After", str(act.retry_after_s)),)
    start = head(act.status, content_type, None if chunked else len(body), close=close, extra=extra)
    if body_withheld:
        return Reply(act.status, start, b"", len(start))
    half = len(body) // 2
    if chunked:
        whole = chunk(body[:half]) + chunk(body[half:]) + LAST_CHUNK
        sent = (
            whole if act.cut is None else whole[: -len(LAST_CHUNK)] if act.cut is Cut.LAST_CHUNK else chunk(body[:half])
        )
    else:
        whole = body
        sent = body if act.cut is None else body[:half]
    return Reply(act.status, start, sent, len(start) + len(whole))


def small_json(status: int, value: object, *, close: bool, allow: str = "", body_withheld: bool = False) -> bytes:
    """A reply to what is no exchange: a probe, or a request that this router cannot serve."""
    body = _encode(value)
    extra = (("Allow", allow),) if allow else ()
    return head(status, JSON_TYPE, len(body), close=close, extra=extra) + (b"" if body_withheld else body)


def _completion(operation: int, execution: int, choices: int) -> bytes:
    """A completion as vLLM and OpenAI write it: one token a word, and a finite logprob for each token id."""
    out = []
    for index in range(choices):
        tokens = result_tokens(operation, execution, index)
        out.append(
            {
                "index": index,
                "text": result_text(operation, execution, index),
                "token_ids": tokens,
                "logprobs": {
                    "tokens": [f"token_id:{token}" for token in tokens],
                    "token_logprobs": [-(1 + token % 7) / 8 for token in tokens],
                },
                "finish_reason": "stop",
            }
        )
    used = choices * len(result_tokens(operation, execution, 0))
    return _encode(
        {
            "id": f"cmpl-{operation}-{execution}",
            "object": "text_completion",
            "created": CREATED,
            "model": MODEL,
            "choices": out,
            "usage": {
                "prompt_tokens": PROMPT_TOKENS,
                "completion_tokens": used,
                "total_tokens": PROMPT_TOKENS + used,
            },
        }
    )
