"""The test clock of a server: its time moves only when it is told to, and it tells when it is quiet."""

from dataclasses import dataclass
from typing import Any

import msgspec

from suites.endpoint import Endpoint
from suites.history import Arrival
from suites.reading import Reply
from suites.request import Request
from suites.tinker.poll import ask

SETTLE, ADVANCE = "/test/settle", "/test/advance"
WITHIN_MS = 10_000


class ControlError(Exception):
    """The server did not say what it has to say of itself."""


class HungError(ControlError):
    """The server does not come to rest, or does not answer at all: it would have to without anybody's help."""


class Quiet(msgspec.Struct, frozen=True, kw_only=True):
    """What it says at quiescence."""

    now_ms: int
    waiting: dict[str, int]
    in_flight: int
    undelivered: int
    delivered: int
    evicted: int
    stored_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The server at that endpoint. Every method raises ControlError where it does not answer as it has to, HungError
    where it does not answer.
    """

    endpoint: Endpoint

    async def settle(self) -> Quiet:
        """It is quiet: nothing is under way in it but what waits for callers, for the router or for its clock."""
        return await self._told(SETTLE, {})

    async def advance(self, ms: int) -> Quiet:
        """Its clock has gone on by so much, and all timers that were due by then have run."""
        return await self._told(ADVANCE, {"ms": ms})

    async def _told(self, path: str, body: dict[str, Any]) -> Quiet:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = Request(target=path, body=msgspec.json.encode(body), headers=headers)
        reply = await ask(self.endpoint, request, within_ms=WITHIN_MS)
        if reply is None:
            raise HungError(f"POST {path} {_answered(reply)}; expected 200")
        if reply.arrival is not Arrival.WHOLE or reply.status != 200:
            raise ControlError(f"POST {path} {_answered(reply)}; expected 200")
        try:
            return msgspec.json.decode(reply.body, type=Quiet)
        except msgspec.MsgspecError as error:
            raise ControlError(f"POST {path} {_answered(reply)}: {error}") from None


def _answered(reply: Reply | None) -> str:
    if reply is None:
        return f"gave no answer within {WITHIN_MS} ms"
    return f"was answered {reply.status} with {reply.body[:80]!r}" if reply.status else f"failed: {reply.says}"
