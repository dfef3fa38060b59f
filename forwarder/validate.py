"""A 200 is a success only if it is whole, JSON, of the right shape, and holds exactly what was asked for."""

from dataclasses import dataclass

from forwarder.evidence import excerpt
from forwarder.reply import Reply
from forwarder.request import Api, Asked
from forwarder.shapes import Part, ShapeError, parts_in

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
_FINISH_REASONS = {Api.COMPLETIONS: ("length", "stop"), Api.CHAT: ("length", "stop", "tool_calls")}


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


def completion_of(reply: Reply, asked: Asked) -> Completion:
    """The completion in a whole 2xx. Raises InvalidResultError for anything else."""
    return Completion(choices=tuple(_public(part) for part in choices_of(reply, asked)), raw=reply.body)


def choices_of(reply: Reply, asked: Asked) -> tuple[Part, ...]:
    """The choices in a whole 2xx, in the order in which they came. Raises InvalidResultError for anything else."""
    wrong = wrong_with_head(reply, STREAM_TYPE if asked.stream else JSON_TYPE)
    if wrong is None:
        try:
            _, parts = parts_in(reply.body, asked.api, event=False)
        except ShapeError as error:
            wrong = f"the body is {error}"
        else:
            wrong = _wrong_with_choices(parts, asked)
            if wrong is None:
                return parts
    raise invalid(wrong, reply)


def invalid(wrong: str, reply: Reply) -> InvalidResultError:
    """The error that says what is wrong with this answer."""
    return InvalidResultError(f"{wrong}; the body begins {excerpt(reply.body)}")


def wrong_with_head(reply: Reply, media_type: str) -> str | None:
    """What keeps this head from being that of a success of that media type; None: nothing."""
    if reply.status != 200:
        return f"status is {reply.status!r}; expected 200"
    encoding = reply.content_encoding.strip().lower()
    if encoding not in ("", "identity"):
        return f"content-encoding is {encoding!r}; expected none, as was asked for"
    found = reply.content_type.partition(";")[0].strip().lower()
    main, _, sub = media_type.partition("/")
    if found == media_type or (found.startswith(f"{main}/") and found.endswith(f"+{sub}")):
        return None
    return f"content-type is {reply.content_type!r}; expected {media_type}"


def wrong_with_finish(reason: str | None, asked: Asked) -> str | None:
    """What is wrong with a choice's finish_reason; None: nothing."""
    expected = _FINISH_REASONS[asked.api]
    return None if reason in expected else f"finish_reason is {reason!r}; expected one of {', '.join(expected)}"


def wrong_with_tokens(part: Part, asked: Asked) -> str | None:
    """What is wrong with the tokens and logprobs that come beside a text; None: nothing."""
    if asked.token_ids and part.token_ids is None:
        return "no token_ids, though return_token_ids was asked for"
    if asked.logprobs and part.token_logprobs is None:
        return "no logprobs of its tokens, though logprobs was asked for"
    return wrong_with_lengths(part)


def wrong_with_lengths(part: Part) -> str | None:
    """Whether there are more tokens than logprobs, or fewer; None: as many, or not both."""
    tokens, logprobs = part.token_ids, part.token_logprobs
    if tokens is not None and logprobs is not None and len(tokens) != len(logprobs):
        return f"{len(tokens)} token_ids and {len(logprobs)} token_logprobs; expected as many of each"
    return None


def _wrong_with_choices(parts: tuple[Part, ...], asked: Asked) -> str | None:
    if len(parts) != asked.choices:
        return f"{len(parts)} choices; expected {asked.choices}, as was asked for"
    indices = [part.index for part in parts]
    if any(index is not None for index in indices) and sorted(i if i is not None else -1 for i in indices) != list(
        range(len(parts))
    ):
        return f"the choices have the indices {indices!r}; expected each of 0 to {len(parts) - 1} once"
    for at, part in enumerate(parts):
        wrong = _wrong_with_choice(part, asked)
        if wrong is not None:
            return f"choice {at}: {wrong}"
    return None


def _wrong_with_choice(part: Part, asked: Asked) -> str | None:
    wrong = wrong_with_finish(part.finish_reason, asked) or wrong_with_tokens(part, asked)
    if wrong is None and asked.token_ids and asked.some_tokens and not part.token_ids:
        return "token_ids is empty, though max_tokens is not 0"
    return wrong


def _public(part: Part) -> Choice:
    return Choice(
        text=part.text,
        finish_reason=part.finish_reason or "",
        token_ids=part.token_ids,
        token_logprobs=part.token_logprobs,
    )
