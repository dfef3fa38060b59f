"""What a client in Python has returned or raised, read without trust: whatever its objects do is the client's doing."""

import json
import traceback
from dataclasses import dataclass
from numbers import Integral

from faults.form import Api


class UnreadableError(Exception):
    """An object that raises when it is read. The message names what it raised, and where in its own code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """Tokens and text of the first choice; None for what is no completion."""

    tokens: tuple[int, ...] | None = None
    text: str | None = None


NOTHING = Returned()


def read(value: object, api: Api) -> Returned:
    """What is in it: a dict, bytes or a text as JSON, or an object of a client library by its `model_dump`.

    Raises UnreadableError where its own code fails.
    """
    try:
        return _result(_as_data(value), api)
    except Exception as error:
        raise UnreadableError(
            f"what it returned, a {type(value).__qualname__}, cannot be read: it raised {words(error)}{_place(error)}; "
            "expected a dict, JSON, or an object whose `model_dump` returns a dict"
        ) from error


def words(error: BaseException) -> str:
    """An exception of somebody else's, whose own words may fail too."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception as worse:  # noqa: BLE001  # it is named, whatever it is
        return f"{type(error).__name__}, whose text raised {type(worse).__name__}"


def _place(error: BaseException) -> str:
    """Where it was raised, innermost first, without the frames of this file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    return "".join(f", at {frame.filename}:{frame.lineno} in {frame.name}" for frame in reversed(frames))


def _result(data: object, api: Api) -> Returned:
    match data:
        case {"choices": [{"token_ids": [*tokens], "text": str(text)}, *_]} if api is Api.COMPLETIONS:
            return _made(tokens, text)
        case {"choices": [{"token_ids": [*tokens], "message": {"content": str(text)}}, *_]} if api is Api.CHAT:
            return _made(tokens, text)
        case _:
            return NOTHING


def _made(tokens: list[object], text: str) -> Returned:
    """Plain numbers and a plain text: an object of the client's own would compare as it likes."""
    numbers = tuple(int(token) for token in tokens if not isinstance(token, bool) and isinstance(token, Integral))
    return Returned(tokens=numbers, text=str(text)) if len(numbers) == len(tokens) else NOTHING


def _as_data(value: object) -> object:
    if isinstance(value, bytes | str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value
