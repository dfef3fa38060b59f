"""A caller's request: the bytes that every attempt sends, and what a whole answer to them must hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from forwarder.errors import RequestError

MAX_CHOICES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the request asked for, as far as the answer must match it."""

    choices: int = 1
    token_ids: bool = False
    logprobs: bool = False
    some_tokens: bool = True  # max_tokens is not 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Encoded once; every attempt sends these bytes."""

    body: bytes
    asked: Asked


def request_of(given: Mapping[str, Any] | bytes) -> Request:
    """The request, encoded with orjson unless it is bytes already. Raises RequestError for what cannot be sent."""
    if isinstance(given, bytes):
        return Request(body=given, asked=_asked(_decoded(given)))
    try:
        body = orjson.dumps(dict(given))
    except orjson.JSONEncodeError as error:
        raise RequestError(f"the request cannot be written as JSON: {error}") from None
    return Request(body=body, asked=_asked(given))


def _decoded(body: bytes) -> Mapping[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the request's body is no JSON: {error}; expected an object") from None
    if not isinstance(request, dict):
        raise RequestError(f"the request's body is JSON of type {type(request).__name__!r}; expected an object")
    return request


def _asked(request: Mapping[str, Any]) -> Asked:
    if request.get("stream"):
        raise RequestError(f"stream is {request['stream']!r}; this forwarder answers whole, leave it out")
    choices = request.get("n")
    if choices is None:
        choices = 1
    if type(choices) is not int or not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n is {choices!r}; expected an integer from 1 to {MAX_CHOICES}")
    logprobs = request.get("logprobs")
    return Asked(
        choices=choices,
        token_ids=request.get("return_token_ids") is True,
        logprobs=logprobs is not None and logprobs is not False,  # 0 asks for the chosen tokens' own
        some_tokens=request.get("max_tokens") != 0,
    )
