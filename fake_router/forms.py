"""Results in the other forms than a whole completion: chat completions, and streams of events, as vLLM and OpenAI write
them. Each event of a stream names its operation and its execution, so that a mix-up is seen wherever it happens.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fake_router.content import STREAM_STEPS, result_text, result_tokens, step_text, step_tokens
from faults.form import Api, Form

MODEL = "retryproof"
CREATED = 1_700_000_000  # a constant: the bytes depend on no clock
PROMPT_TOKENS = 2
STREAM_TYPE = "text/event-stream; charset=utf-8"
DONE = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


def chat_completion(operation: int, execution: int, choices: int) -> bytes:
    """A whole chat completion."""
    made = []
    for index in range(choices):
        tokens = result_tokens(operation, execution, index)
        message = {"role": "assistant", "content": result_text(operation, execution, index)}
        made.append({"index": index, "message": message, **_beside(Api.CHAT, tokens), "finish_reason": "stop"})
    used = choices * len(result_tokens(operation, execution, 0))
    usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": used, "total_tokens": PROMPT_TOKENS + used}
    return _encode({**_frame("chatcmpl", "chat.completion", operation, execution), "choices": made, "usage": usage})


def stream_events(api: Api, operation: int, execution: int, choices: int) -> list[bytes]:
    """The events of a stream, `[DONE]` not among them: one a token, the choices in turn, the last of each with its
    finish_reason.
    """
    return [
        b"data: " + _encode(_event(api, operation, execution, index, step)) + b"\n\n"
        for step in range(STREAM_STEPS)
        for index in range(choices)
    ]


def in_form(form: Form, operation: int, execution: int, choices: int) -> bytes:
    """The result in that form. Raises ValueError for a whole completion, which `completions` makes."""
    if form.stream:
        return b"".join(stream_events(form.api, operation, execution, choices)) + DONE
    if form.api is Api.CHAT:
        return chat_completion(operation, execution, choices)
    raise ValueError(f"{form!r} is a whole completion; expected chat or a stream")


def _event(api: Api, operation: int, execution: int, index: int, step: int) -> dict[str, Any]:
    tokens = step_tokens(operation, execution, index, step)
    text = step_text(operation, execution, index, step)
    finish = "stop" if step == STREAM_STEPS - 1 else None
    choice = {"index": index, **_beside(api, tokens), "finish_reason": finish}
    if api is Api.CHAT:
        delta = {"role": "assistant", "content": text} if step == 0 else {"content": text}
        frame = _frame("chatcmpl", "chat.completion.chunk", operation, execution)
        return {**frame, "choices": [{**choice, "delta": delta}]}
    return {**_frame("cmpl", "text_completion", operation, execution), "choices": [{**choice, "text": text}]}


def _frame(prefix: str, kind: str, operation: int, execution: int) -> dict[str, Any]:
    return {"id": f"{prefix}-{operation}-{execution}", "object": kind, "created": CREATED, "model": MODEL}


def _beside(api: Api, tokens: Sequence[int]) -> dict[str, Any]:
    """What stands beside the text: a finite logprob for each token id."""
    names = [f"token_id:{token}" for token in tokens]
    logprobs = [-(1 + token % 7) / 8 for token in tokens]
    if api is Api.CHAT:
        listed: list[dict[str, Any]] = [
            {"token": name, "logprob": logprob, "bytes": None, "top_logprobs": []}
            for name, logprob in zip(names, logprobs, strict=True)
        ]
        return {"token_ids": tokens, "logprobs": {"content": listed}}
    return {"token_ids": tokens, "logprobs": {"tokens": names, "token_logprobs": logprobs}}
