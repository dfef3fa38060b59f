"""What a caller asks for: the body of one operation, its number riding in the prompt."""

from typing import Any

from fake_router.content import prompt_tokens

MODEL = "retryproof"
TARGET = "/v1/completions"


def completion_request(number: int) -> dict[str, Any]:
    """The content of a /v1/completions request for the operation of that number."""
    return {
        "model": MODEL,
        "prompt": prompt_tokens(number),
        "n": 1,
        "max_tokens": 4,
        "temperature": 1.0,
        "logprobs": 1,
        "stream": False,
        "return_token_ids": True,
    }
