"""A caller's sampling session with one server: made when it is first needed, and the keys that are counted in it."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from suites.endpoint import Endpoint
from suites.history import Arrival
from suites.reading import Reply
from suites.request import Request
from suites.tinker import wire
from suites.tinker.answers import text_in
from suites.tinker.poll import ask

_WITHIN_MS = 10_000
_NONE = Reply(arrival=Arrival.HUNG, says=f"no whole answer within {_WITHIN_MS} ms")


class NoSessionError(Exception):
    """The server gave no session; reply: what it answered instead."""

    def __init__(self, what: str, reply: Reply) -> None:
        super().__init__(f"no {what}: {reply.says or f'{reply.status} with {reply.body[:80]!r}'}")
        self.reply = reply


class Key(NamedTuple):
    """What is the same each time a submit is sent."""

    sampling_session_id: str
    seq_id: int


@dataclass(slots=True, kw_only=True)
class SamplingSession:
    """One for each instance of a subject."""

    _id: str | None = None
    _next: int = 0
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def next_key(self, endpoint: Endpoint) -> Key:
        """A key that was never used. Its session is made straight at the server, whatever leads to it from here.

        Raises NoSessionError where it cannot be had.
        """
        async with self._making:
            if self._id is None:
                self._id = await _made(replace(endpoint, way_in=None))
            number, self._next = self._next, self._next + 1
            return Key(self._id, number)


async def _made(endpoint: Endpoint) -> str:
    path, headers = endpoint.path, endpoint.headers
    request = wire.create_session(path, headers)
    session = await _text(endpoint, request, "session_id")
    request = wire.create_sampling_session(session, path=path, headers=headers)
    return await _text(endpoint, request, "sampling_session_id")


async def _text(endpoint: Endpoint, request: Request, key: str) -> str:
    reply = await ask(endpoint, request, within_ms=_WITHIN_MS) or _NONE
    found = text_in(reply, key)
    if found is None:
        raise NoSessionError(key, reply)
    return found
