"""How an operation's number rides in the content of a request, and how a reply names operation and execution.

Forwarders drop and rewrite headers; the content they must pass on.
"""

import re

MAGIC = 31_337  # the first prompt token, and the first completion token, of everything that carries an operation
MAX_NUMBER = 2**31 - 1  # token ids are int32 on the wire of the Tinker SDK
_IN_WORDS = "retryproof operation"
_FOUND = re.compile(rf"{_IN_WORDS} (\d{{1,10}})\b")


def prompt_tokens(operation: int) -> list[int]:
    """The prompt of a request that carries that operation."""
    if not 0 < operation <= MAX_NUMBER:
        raise ValueError(f"operation number {operation!r}; expected 1 to {MAX_NUMBER}")
    return [MAGIC, operation]


def prompt_text(operation: int) -> str:
    """The same as a text; it may stand anywhere inside a longer one."""
    return f"{_IN_WORDS} {prompt_tokens(operation)[1]}"


def operation_in(prompt: object) -> int | None:
    """The operation that a decoded prompt carries (a list of token ids, or a text); None where it carries none."""
    match prompt:
        case str():
            found = _FOUND.search(prompt)
            return operation_in([MAGIC, int(found[1])]) if found else None
        case [int() as magic, int() as operation, *_] if magic == MAGIC and 0 < operation <= MAX_NUMBER:
            return operation
        case _:
            return None


def result_tokens(operation: int, execution: int, choice: int) -> list[int]:
    """The completion tokens of one choice."""
    return [MAGIC, operation, execution, choice]


def result_text(operation: int, execution: int, choice: int) -> str:
    """The completion text of one choice."""
    return f"operation {operation} execution {execution} choice {choice}"
