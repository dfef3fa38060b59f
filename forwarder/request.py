"""A caller's request: the bytes that every attempt sends, and what a whole answer to them must hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import orjson

from forwarder.errors import RequestError

MAX_CHOICES = 1024
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Api(StrEnum):
    """The two ways in which a completion is asked for."""

    COMPLETIONS = "completions"
    CHAT = "chat"

    @property
    def path(self) -> str:
        """Where the router and this forwarder serve it."""
        return "/v1/chat/completions" if self is Api.CHAT else "/v1/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the request asked for, as far as the answer must match it."""

    api: Api = Api.COMPLETIONS
    stream: bool = False
    choices: int = 1
    token_ids: bool = False
    logprobs: bool = False
    some_tokens: bool = True  # neither max_tokens nor max_completion_tokens is 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Encoded once; every attempt sends these bytes, and these headers beside the usual ones."""

    body: bytes
    asked: Asked
    expect: bool = False
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)


def request_of(given: Mapping[str, Any] | bytes | Request, api: Api = Api.COMPLETIONS) -> Request:
    """The request, encoded with orjson unless it is bytes already. Raises RequestError for what cannot be sent."""
    if isinstance(given, Request):
        return given
    if isinstance(given, bytes):
        return Request(body=given, asked=_asked(_decoded(given), api))
    try:
        body = orjson.dumps(dict(given))
    except orjson.JSONEncodeError as error:
        raise RequestError(f"the request cannot be written as JSON: {error}") from None
    return Request(body=body, asked=_asked(given, api))


def _decoded(body: bytes) -> Mapping[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the request's body is no JSON: {error}; expected an object") from None
    if not isinstance(request, dict):
        raise RequestError(f"the request's body is JSON of type {type(request).__name__!r}; expected an object")
    return request


def _asked(request: Mapping[str, Any], api: Api) -> Asked:
    stream = request.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise RequestError(f"stream is {stream!r}; expected true or false")
    choices = request.get("n")
    if choices is None:
        choices = 1
    if type(choices) is not int or not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n is {choices!r}; expected an integer from 1 to {MAX_CHOICES}")
    logprobs = request.get("logprobs")
    return Asked(
        api=api,
        stream=bool(stream),
        choices=choices,
        token_ids=request.get("return_token_ids") is True,
        logprobs=logprobs is not None and logprobs is not False,  # 0 asks for the chosen tokens' own
        some_tokens=0 not in (request.get("max_tokens"), request.get("max_completion_tokens")),
    )
