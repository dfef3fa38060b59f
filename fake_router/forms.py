"""Results in the other forms than a whole completion: chat completions, and streams of events, as vLLM and OpenAI write
them. Each event of a stream names its operation and its execution, so that a mix-up is seen wherever it happens.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fake_router.content import logprob_of, result_text, result_tokens, step_text, step_tokens
from faults.answer import STREAM_STEPS
from faults.contents import fixed_content
from faults.form import Api, Form
from faults.vocabulary import Content

MODEL = "retryproof"
CREATED = 1_700_000_000  # a constant: the bytes depend on no clock
PROMPT_TOKENS = 2
STREAM_TYPE = "text/event-stream; charset=utf-8"
DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
ERROR = b"data: " + fixed_content(Content.ERROR_OBJECT)[1] + b"\n\n"
SOME = 3  # so many events come before an error, or before a stream stops

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


def stream_of(content: Content, api: Api, operation: int, execution: int, choices: int) -> tuple[bytes, ...]:
    """What is sent event by event, `[DONE]` and comments among it; of any other content than these a whole stream."""
    events = stream_events(api, operation, execution, choices)
    match content:
        case Content.PINGS:
            return (*(part for event in events for part in (PING, event)), DONE)
        case Content.NO_DONE:
            return tuple(events)
        case Content.NO_EVENTS:
            return ()
        case Content.ERROR_EVENT:
            return (*events[:SOME], ERROR)
        case Content.ERROR_EVENT_DONE:
            return (*events[:SOME], ERROR, DONE)
        case _:
            return (*events, DONE)


def in_form(form: Form, operation: int, execution: int, choices: int) -> bytes:
    """The result in that form. Raises ValueError for a whole completion, which `completions` makes."""
    if form.stream:
        return b"".join(stream_of(Content.RESULT, form.api, operation, execution, choices))
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
    logprobs = [logprob_of(token) for token in tokens]
    if api is Api.CHAT:
        listed: list[dict[str, Any]] = [
            {"token": name, "logprob": logprob, "bytes": None, "top_logprobs": []}
            for name, logprob in zip(names, logprobs, strict=True)
        ]
        return {"token_ids": tokens, "logprobs": {"content": listed}}
    return {"token_ids": tokens, "logprobs": {"tokens": names, "token_logprobs": logprobs}}
