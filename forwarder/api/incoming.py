"""A request's body, read whole within limits, and as the object that was expected."""

import asyncio
from typing import TypeVar

import msgspec
from starlette.requests import Request

from forwarder.api.activity import Activity
from forwarder.api.answers import RefusedError

T = TypeVar("T", bound=msgspec.Struct)


class CallerLeftError(Exception):
    """The caller has left before its request had come whole; nobody is there for an answer."""


class Incoming:
    """Reads bodies of at most `max_bytes`, each within `timeout_s` seconds from its head."""

    def __init__(self, activity: Activity, *, max_bytes: int, timeout_s: float) -> None:
        self._activity = activity
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def body(self, request: Request) -> bytes:
        """All bytes of it. Raises CallerLeftError, and RefusedError: 413 for a larger one, 408 for a later one."""
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            raise self._too_large(declared)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._whole(request)
        except TimeoutError:
            says = f"the body had not come whole after {self._timeout_s:g} s; expected as much as was announced"
            raise RefusedError(408, "body_timeout", says) from None

    async def _whole(self, request: Request) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while True:
            with self._activity.waiting():
                message = await request.receive()
            if message["type"] == "http.disconnect":
                raise CallerLeftError
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._max_bytes:
                raise self._too_large(f"{size} and more")
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)

    def _too_large(self, size: str) -> RefusedError:
        return RefusedError(413, "body_too_large", f"a body of {size} bytes; expected at most {self._max_bytes}")

    async def fields(self, request: Request, expected: type[T]) -> T:
        """The body as this struct; unknown fields are ignored. Raises what `body` raises, and RefusedError 422."""
        return fields_of(await self.body(request), expected)


def fields_of(body: bytes, expected: type[T]) -> T:
    """These bytes as JSON of this struct. Raises RefusedError 422."""
    try:
        return msgspec.json.decode(body, type=expected)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        names = ", ".join(field.name for field in msgspec.structs.fields(expected))
        raise RefusedError(422, "invalid", f"{error}; expected a JSON object with {names}") from None
