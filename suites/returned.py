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
    """Tokens and text of the first choice. No completion has neither; one that passed through what drops fields that it
    does not know has a text alone.
    """

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
        case {"choices": [{"text": str(text), **rest}, *_]} if api is Api.COMPLETIONS:
            return _made(rest.get("token_ids"), text)
        case {"choices": [{"message": {"content": str(text)}, **rest}, *_]} if api is Api.CHAT:
            return _made(rest.get("token_ids"), text)
        case _:
            return NOTHING


def _made(tokens: object, text: str) -> Returned:
    """Plain numbers and a plain text: an object of the client's own would compare as it likes."""
    if tokens is None:
        return Returned(text=str(text))
    if not isinstance(tokens, list | tuple):
        return NOTHING
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
