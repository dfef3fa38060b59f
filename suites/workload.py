"""What a caller asks for: the body of one operation, its number riding in the prompt or in a message."""

from functools import lru_cache
from typing import Any, assert_never

from fake_router.content import prompt_text, prompt_tokens
from faults.form import COMPLETION, Api, Form

MODEL = "retryproof"


_FIRST_FURTHER_TOKEN = 1_000_000_000  # ten digits and a comma: JSON as dense as it gets writes each in 11 bytes
_BYTES_OF_TOKEN = 11


def completion_request(number: int, form: Form = COMPLETION, body_bytes: int = 0) -> dict[str, Any]:
    """The content of a request of that form for the operation of that number; its prompt is made so long that as JSON
    it has at least `body_bytes`.
    """
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
            return {**common, "prompt": prompt_tokens(number) + _further_tokens(body_bytes), "logprobs": 1}
        case Api.CHAT:
            messages = [{"role": "user", "content": prompt_text(number) + _further_text(body_bytes)}]
            return {**common, "messages": messages, "logprobs": True, "top_logprobs": 0}
        case _:
            assert_never(form.api)


@lru_cache(maxsize=4)
def _further_tokens(body_bytes: int) -> list[int]:
    """All different, so that a part which is lost, doubled or moved does not go unseen."""
    count = -(-body_bytes // _BYTES_OF_TOKEN)
    return list(range(_FIRST_FURTHER_TOKEN, _FIRST_FURTHER_TOKEN + count))


@lru_cache(maxsize=4)
def _further_text(body_bytes: int) -> str:
    return "".join(f" {token}" for token in _further_tokens(body_bytes))
