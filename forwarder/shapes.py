"""The shapes of answers: completions and chat completions, whole and as events of a stream, read into one form.

orjson is strict where it matters: UTF-8, no NaN, no infinity, nothing after the value.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import orjson

from forwarder.request import Api

TokenId = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one choice holds: all of it, or what one event adds to it (then its end has a finish_reason)."""

    index: int | None
    text: str
    finish_reason: str | None
    token_ids: tuple[int, ...] | None
    token_logprobs: tuple[float, ...] | None


class ShapeError(ValueError):
    """Bytes that are no JSON, or JSON of another shape; the message says which, as a predicate."""


class _Logprobs(msgspec.Struct):
    token_logprobs: tuple[float, ...] | None = None


class _ChatLogprob(msgspec.Struct):
    logprob: float


class _ChatLogprobs(msgspec.Struct):
    content: tuple[_ChatLogprob, ...] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: tuple[Any, ...] | None = None


class _Choice(msgspec.Struct):
    text: str
    index: int | None = None
    finish_reason: str | None = None
    token_ids: tuple[TokenId, ...] | None = None
    logprobs: _Logprobs | None = None

    def part(self) -> Part:
        logprobs = self.logprobs.token_logprobs if self.logprobs is not None else None
        return _part(self, self.text, logprobs)


class _ChatBase(msgspec.Struct):
    index: int | None = None
    finish_reason: str | None = None
    token_ids: tuple[TokenId, ...] | None = None
    logprobs: _ChatLogprobs | None = None

    def token_logprobs(self) -> tuple[float, ...] | None:
        """In the order of the tokens."""
        content = self.logprobs.content if self.logprobs is not None else None
        return None if content is None else tuple(token.logprob for token in content)


class _ChatChoice(_ChatBase, kw_only=True):
    message: _Message

    def part(self) -> Part:
        if self.message.content is None and not self.message.tool_calls:
            raise ShapeError("JSON of the wrong shape: a message with neither `content` nor `tool_calls`")
        return _part(self, self.message.content or "", self.token_logprobs())


class _ChatDelta(_ChatBase, kw_only=True):
    delta: _Message

    def part(self) -> Part:
        return _part(self, self.delta.content or "", self.token_logprobs())


class _Result(msgspec.Struct):
    choices: tuple[_Choice, ...]
    id: str | None = None


class _ChatResult(msgspec.Struct):
    choices: tuple[_ChatChoice, ...]
    id: str | None = None


class _ChatEvent(msgspec.Struct):
    choices: tuple[_ChatDelta, ...]
    id: str | None = None


_SHAPES: dict[tuple[Api, bool], type[_Result | _ChatResult | _ChatEvent]] = {
    (Api.COMPLETIONS, False): _Result,
    (Api.COMPLETIONS, True): _Result,
    (Api.CHAT, False): _ChatResult,
    (Api.CHAT, True): _ChatEvent,
}


def parts_in(data: bytes, api: Api, *, event: bool) -> tuple[str | None, tuple[Part, ...]]:
    """The id that the router gave to the answer, and its choices. Raises ShapeError."""
    try:
        found = orjson.loads(data)
        if isinstance(found, dict) and found.get("error") is not None:
            raise ShapeError("an error in place of a result")
        result = msgspec.convert(found, _SHAPES[api, event])
    except orjson.JSONDecodeError as error:
        raise ShapeError(f"no JSON: {error}") from None
    except msgspec.ValidationError as error:
        raise ShapeError(f"JSON of the wrong shape: {error}") from None
    return result.id, tuple(choice.part() for choice in result.choices)


def _part(choice: _Choice | _ChatBase, text: str, token_logprobs: tuple[float, ...] | None) -> Part:
    return Part(
        index=choice.index,
        text=text,
        finish_reason=choice.finish_reason,
        token_ids=choice.token_ids,
        token_logprobs=token_logprobs,
    )
