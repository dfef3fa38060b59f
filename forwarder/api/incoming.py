"""A request's body, read whole within limits, and as the object that was expected."""

import asyncio
from typing import TypeVar

import msgspec
from starlette.requests import Request

from forwarder.api.activity import Activity
from forwarder.api.answers import RefusedError
from forwarder.futures.room import Room

SMALL_BYTES = 64 * 1024  # of a body: about what lies unread in a connection anyway

T = TypeVar("T", bound=msgspec.Struct)


class CallerLeftError(Exception):
    """The caller has left before its request had come whole; nobody is there for an answer."""


class Incoming:
    """Reads bodies of at most `max_bytes`, each within `timeout_s` seconds from its head. What has come of a body takes
    room until it is whole; whoever read it then has its room to ask for, without a wait between.
    """

    def __init__(self, activity: Activity, room: Room, *, max_bytes: int, timeout_s: float) -> None:
        self._activity = activity
        self._room = room
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def body(self, request: Request) -> bytes:
        """All bytes of it. Raises CallerLeftError, RefusedError (413 for a larger one, 408 for a later one), and
        FullError where there is no room for it.
        """
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
        held = 0
        try:
            while True:
                with self._activity.waiting():
                    message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise CallerLeftError
                chunk = message.get("body", b"")
                self._hold(held, len(chunk))
                held += len(chunk)
                chunks.append(chunk)
                if not message.get("more_body", False):
                    return b"".join(chunks)
        finally:
            self._room.give(held)

    def _hold(self, held: int, more: int) -> None:
        """Polls and heartbeats are small: they come through, however little room there is."""
        size = held + more
        if size > self._max_bytes:
            raise self._too_large(f"{size} and more")
        if size <= SMALL_BYTES:
            self._room.take_anyway(more)
        else:
            self._room.take(more)

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
