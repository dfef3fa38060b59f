"""How an operation's number rides in the content of a request, and how a reply names operation and execution.

Forwarders drop and rewrite headers; the content they must pass on.
"""

import re
from typing import Any

from faults.answer import STREAM_STEPS

MAGIC = 31_337  # the first prompt token, and the first completion token, of everything that carries an operation
MAX_NUMBER = 2**31 - 1  # token ids are int32 on the wire of the Tinker SDK

LOGPROB_PERIOD = 7  # how many different logprobs there are

_WORDS = "retryproof operation "  # looked for first: most texts hold none
_MARKER = re.compile(r"(?<![\w-])retryproof operation ([1-9][0-9]{0,9})(?![\w-])")


def prompt_tokens(operation: int) -> list[int]:
    """The prompt of a request that carries that operation."""
    return [MAGIC, _checked(operation)]


def prompt_text(operation: int) -> str:
    """A text that carries that operation: a marker that nobody writes by chance, whatever stands around it."""
    return f"retryproof operation {_checked(operation)}"


def _checked(operation: int) -> int:
    if type(operation) is not int or not 0 < operation <= MAX_NUMBER:
        raise ValueError(f"operation number {operation!r}; expected 1 to {MAX_NUMBER}")
    return operation


def operation_in(prompt: object) -> int | None:
    """The operation that a decoded prompt carries: token ids, or a text with a marker; None where it carries none."""
    match prompt:
        case [int() as magic, int() as operation, *_] if magic == MAGIC and 0 < operation <= MAX_NUMBER:
            return operation
        case str():
            return _marked([prompt]) if _WORDS in prompt else None
        case _:
            return None


def operation_in_messages(messages: object) -> int | None:
    """The operation that the texts of a chat carry; None where they carry none, or more than one."""
    if not isinstance(messages, list):
        return None
    return _marked([text for message in messages if isinstance(message, dict) for text in _texts(message)])


def _texts(message: dict[str, Any]) -> list[str]:
    """A message's content is a text, or a list of parts of which some are texts."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _marked(texts: list[str]) -> int | None:
    found = {int(number) for text in texts for number in _MARKER.findall(text)}
    operation = found.pop() if len(found) == 1 else 0
    return operation if 0 < operation <= MAX_NUMBER else None


RESULT_TOKENS = 4  # of each choice of a whole completion


def result_tokens(operation: int, execution: int, choice: int, most: int | None = None) -> list[int]:
    """The completion tokens of one choice; most: no more than so many of them."""
    return [MAGIC, operation, execution, choice][:most]


def result_text(operation: int, execution: int, choice: int, most: int | None = None) -> str:
    """The completion text of one choice; most: no more than so many words of it."""
    text = f"operation {operation} execution {execution} choice {choice}"
    return text if most is None else " ".join(text.split()[:most])


def logprob_of(token: int) -> float:
    """The logprob of a completion token, which a float32 holds exactly."""
    return -(1 + token % LOGPROB_PERIOD) / 8


def step_tokens(operation: int, execution: int, choice: int, step: int) -> list[int]:
    """The tokens in one event of a stream: each event names the work that it came from."""
    return [*result_tokens(operation, execution, choice), step]


def step_text(operation: int, execution: int, choice: int, step: int) -> str:
    """The text in one event of a stream."""
    return f"{result_text(operation, execution, choice)} event {step}; "


def streamed_result(operation: int, execution: int, choice: int) -> tuple[list[int], str]:
    """Tokens and text of one choice, when all of its events have come."""
    steps = range(STREAM_STEPS)
    tokens = [token for step in steps for token in step_tokens(operation, execution, choice, step)]
    return tokens, "".join(step_text(operation, execution, choice, step) for step in steps)
