"""What a caller asks for: the body of one operation, its number riding in the prompt or in a message."""

from typing import Any, assert_never

from fake_router.content import prompt_text, prompt_tokens
from faults.form import COMPLETION, Api, Form

MODEL = "retryproof"


def completion_request(number: int, form: Form = COMPLETION) -> dict[str, Any]:
    """The content of a request of that form for the operation of that number."""
    common = {
        "model": MODEL,
        "n": 1,
        "max_tokens": 64,
        "temperature": 1.0,
        "stream": form.stream,
        "return_token_ids": True,
    }
    match form.api:
        case Api.COMPLETIONS:
            return {**common, "prompt": prompt_tokens(number), "logprobs": 1}
        case Api.CHAT:
            messages = [{"role": "user", "content": prompt_text(number)}]
            return {**common, "messages": messages, "logprobs": True, "top_logprobs": 0}
        case _:
            assert_never(form.api)
