"""Completions as vLLM and OpenAI write them: right ones, and each way in which one can be wrong. All are pure functions
of the operation, its execution and the number of choices.
"""

from typing import Any

import msgspec

from fake_router.content import LOGPROB_PERIOD, MAX_NUMBER, RESULT_TOKENS, logprob_of, result_text, result_tokens
from fake_router.forms import CREATED, MODEL, PROMPT_TOKENS
from fake_router.prompt_logprobs import prompt_logprobs
from faults.form import Form
from faults.vocabulary import Content

NOBODY = MAX_NUMBER  # the operation in a result that belongs to nobody: no driver counts so far

_encode = msgspec.json.Encoder().encode


def completion(operation: int, execution: int, choices: int) -> bytes:
    """One token a word, and a finite logprob for each token id."""
    if choices == 1:  # nearly always, and then only numbers differ
        a, b, c, d, e, f, g, h, i, j, k = _ONE_CHOICE
        o, x = str(operation), str(execution)
        of_o, of_x = _LOGPROBS[operation % LOGPROB_PERIOD], _LOGPROBS[execution % LOGPROB_PERIOD]
        return "".join((a, o, b, x, c, o, d, x, e, o, f, x, g, o, h, x, i, of_o, j, of_x, k)).encode()
    made = [_choice(operation, execution, index) for index in range(choices)]
    return _encode(_frame(made, operation, execution, choices * RESULT_TOKENS))


def completion_in(form: Form, operation: int, execution: int, choices: int) -> bytes:
    """A completion that is cut, or of which each choice holds the logprobs of the prompt, as vLLM writes them."""
    about = {} if form.about_prompt is None else {"prompt_logprobs": prompt_logprobs(form.about_prompt)}
    made = [{**_choice(operation, execution, index, form.most_tokens), **about} for index in range(choices)]
    return _encode(_completion(made, operation, execution))


def wrong_completion(content: Content, operation: int, execution: int, choices: int) -> bytes:
    """A completion that is wrong in the way that the content names. Raises KeyError for any other content."""
    made = _CHOICES[content](operation, execution, choices)
    data = _encode(_completion(made, operation, execution))
    return data.replace(b'"NaN"', b"NaN").replace(b'"-Infinity"', b"-Infinity")  # no JSON: Python's json writes it so


def spoilt(content: Content, whole: bytes) -> bytes:
    """A result whose bytes are spoilt in the way that the content names; as it is for any other content."""
    half = len(whole) // 2
    match content:
        case Content.HALF_JSON:
            return whole[:half]
        case Content.NUL_TAIL:
            return whole[:half] + bytes(len(whole) - half)
        case Content.BAD_UTF8:
            return whole.replace(b"operation", b"\xff\xfeoperation", 1)
        case _:
            return whole


def _choice(operation: int, execution: int, index: int, most: int | None = None) -> dict[str, Any]:
    tokens = result_tokens(operation, execution, index, most)
    return {
        "index": index,
        "text": result_text(operation, execution, index, most),
        "token_ids": tokens,
        "logprobs": {
            "tokens": [f"token_id:{token}" for token in tokens],
            "token_logprobs": [logprob_of(token) for token in tokens],
        },
        "finish_reason": "stop" if len(tokens) == RESULT_TOKENS else "length",
    }


def _with_logprobs(operation: int, execution: int, index: int, logprobs: object) -> dict[str, Any]:
    choice = _choice(operation, execution, index)
    choice["logprobs"] |= {"token_logprobs": logprobs}
    return choice


def _with_lastlogprob_of(operation: int, execution: int, index: int, last: tuple[object, ...]) -> dict[str, Any]:
    right = _choice(operation, execution, index)["logprobs"]["token_logprobs"]
    return _with_logprobs(operation, execution, index, [*right[:-1], *last])


def _completion(choices: list[dict[str, Any]], operation: int, execution: int) -> dict[str, Any]:
    return _frame(choices, operation, execution, sum(len(choice["token_ids"] or ()) for choice in choices))


def _frame(choices: list[dict[str, Any]], operation: int, execution: int, used: int) -> dict[str, Any]:
    return {
        "id": f"cmpl-{operation}-{execution}",
        "object": "text_completion",
        "created": CREATED,
        "model": MODEL,
        "choices": choices,
        "usage": {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": used, "total_tokens": PROMPT_TOKENS + used},
    }


def _one_choice() -> list[str]:
    """A completion of one choice, cut where operation and execution stand, four times in turn, and their logprobs."""
    operation, execution = MAX_NUMBER - 1, MAX_NUMBER - 2  # nothing else in it looks like these
    choice = _choice(operation, execution, 0)
    choice["logprobs"]["token_logprobs"][1:3] = ["%s", "%s"]
    made = _encode(_completion([choice], operation, execution)).decode().replace('"%s"', "%s")
    return made.replace(str(operation), "%s").replace(str(execution), "%s").split("%s")


_ONE_CHOICE = _one_choice()
_LOGPROBS = [_encode(logprob_of(token)).decode() for token in range(LOGPROB_PERIOD)]

_NO_LOGPROBS: dict[str, list[object]] = {"tokens": [], "token_logprobs": []}
_CHOICES = {
    Content.FEWER_CHOICES: lambda o, e, n: [_choice(o, e, i) for i in range(n - 1)],
    Content.MORE_CHOICES: lambda o, e, n: [_choice(o, e, i) for i in range(n + 1)],
    Content.SAME_INDEX: lambda o, e, n: [_choice(o, e, i) | {"index": 0} for i in range(n + 1)],
    Content.WRONG_INDEX: lambda o, e, n: [_choice(o, e, i) | {"index": n + i} for i in range(n)],
    Content.FEWER_LOGPROBS: lambda o, e, n: [_with_lastlogprob_of(o, e, i, ()) for i in range(n)],
    Content.NAN_LOGPROBS: lambda o, e, n: [_with_lastlogprob_of(o, e, i, ("NaN",)) for i in range(n)],
    Content.INFINITE_LOGPROBS: lambda o, e, n: [_with_lastlogprob_of(o, e, i, ("-Infinity",)) for i in range(n)],
    Content.NULL_LOGPROBS: lambda o, e, n: [_with_logprobs(o, e, i, None) for i in range(n)],
    Content.NULL_TOKENS: lambda o, e, n: [_choice(o, e, i) | {"token_ids": None} for i in range(n)],
    Content.ABORTED: lambda o, e, n: [_choice(o, e, i) | {"finish_reason": "abort"} for i in range(n)],
    Content.NO_REASON: lambda o, e, n: [_choice(o, e, i) | {"finish_reason": None} for i in range(n)],
    Content.NO_TOKENS: lambda o, e, n: [
        _choice(o, e, i) | {"text": "", "token_ids": [], "logprobs": _NO_LOGPROBS} for i in range(n)
    ],
}
