"""A 200 is a success only if it is whole, JSON, of the right shape, and holds exactly what was asked for."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
import orjson

from forwarder.evidence import excerpt
from forwarder.reply import Reply
from forwarder.request import Asked

FINISH_REASONS = frozenset({"stop", "length"})

TokenId = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One completion. token_ids and token_logprobs are None where they were not asked for and did not come."""

    text: str
    finish_reason: str
    token_ids: tuple[int, ...] | None = None
    token_logprobs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A whole result, and `raw`: the router's bytes, unchanged."""

    choices: tuple[Choice, ...]
    raw: bytes


class InvalidResultError(ValueError):
    """A 2xx that is no valid result; the message names what is wrong, with an excerpt."""


class _Logprobs(msgspec.Struct):
    token_logprobs: tuple[float, ...] | None = None


class _Choice(msgspec.Struct):
    text: str
    finish_reason: str
    index: int | None = None
    token_ids: tuple[TokenId, ...] | None = None
    logprobs: _Logprobs | None = None


class _Result(msgspec.Struct):
    choices: tuple[_Choice, ...]


def completion_of(reply: Reply, asked: Asked) -> Completion:
    """The completion in a whole 2xx. Raises InvalidResultError for anything else."""
    wrong = _wrong_with_head(reply)
    if wrong is None:
        result = _decoded(reply.body)
        if isinstance(result, str):
            wrong = result
        else:
            wrong = _wrong_with_choices(result.choices, asked)
            if wrong is None:
                return Completion(choices=tuple(_public(choice) for choice in result.choices), raw=reply.body)
    raise InvalidResultError(f"{wrong}; the body begins {excerpt(reply.body)}")


def _wrong_with_head(reply: Reply) -> str | None:
    if reply.status != 200:
        return f"status is {reply.status!r}; expected 200"
    encoding = reply.content_encoding.strip().lower()
    if encoding not in ("", "identity"):
        return f"content-encoding is {encoding!r}; expected none, as was asked for"
    media_type = reply.content_type.partition(";")[0].strip().lower()
    if media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json")):
        return None
    return f"content-type is {reply.content_type!r}; expected application/json"


def _decoded(body: bytes) -> _Result | str:
    """The result, or what is wrong. orjson is strict where it matters: UTF-8, no NaN, no infinity, nothing after."""
    try:
        return msgspec.convert(orjson.loads(body), _Result)
    except orjson.JSONDecodeError as error:
        return f"the body is no JSON: {error}"
    except msgspec.ValidationError as error:
        return f"the body is JSON of the wrong shape: {error}"


def _wrong_with_choices(choices: tuple[_Choice, ...], asked: Asked) -> str | None:
    if len(choices) != asked.choices:
        return f"{len(choices)} choices; expected {asked.choices}, as was asked for"
    indices = [choice.index for choice in choices]
    if any(index is not None for index in indices) and sorted(i if i is not None else -1 for i in indices) != list(
        range(len(choices))
    ):
        return f"the choices have the indices {indices!r}; expected each of 0 to {len(choices) - 1} once"
    for at, choice in enumerate(choices):
        wrong = _wrong_with_choice(choice, asked)
        if wrong is not None:
            return f"choice {at}: {wrong}"
    return None


def _wrong_with_choice(choice: _Choice, asked: Asked) -> str | None:
    if choice.finish_reason not in FINISH_REASONS:
        return f"finish_reason is {choice.finish_reason!r}; expected one of {', '.join(sorted(FINISH_REASONS))}"
    logprobs = choice.logprobs.token_logprobs if choice.logprobs is not None else None
    if asked.token_ids and choice.token_ids is None:
        return "no token_ids, though return_token_ids was asked for"
    if asked.logprobs and logprobs is None:
        return "no logprobs.token_logprobs, though logprobs was asked for"
    if choice.token_ids is not None and logprobs is not None and len(choice.token_ids) != len(logprobs):
        return f"{len(choice.token_ids)} token_ids and {len(logprobs)} token_logprobs; expected as many of each"
    if asked.token_ids and asked.some_tokens and not choice.token_ids:
        return "token_ids is empty, though max_tokens is not 0"
    return None


def _public(choice: _Choice) -> Choice:
    return Choice(
        text=choice.text,
        finish_reason=choice.finish_reason,
        token_ids=choice.token_ids,
        token_logprobs=choice.logprobs.token_logprobs if choice.logprobs is not None else None,
    )
