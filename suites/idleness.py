"""What a subject says of itself at a path: how much is in flight inside it."""

import json
from dataclasses import dataclass

from suites.endpoint import Endpoint
from suites.history import Arrival
from suites.reading import Reply
from suites.subject import SubjectError

EXPECTED = '{"in_flight": N} as JSON, with N a number from 0'
_SHOWN = 80  # bytes of an answer that is none


@dataclass(slots=True, kw_only=True)
class Idleness:
    """The path at which it is asked. says: what it last said, where that was not that nothing is in flight."""

    endpoint: Endpoint
    path: str
    within_ms: int
    says: str = ""

    async def ask(self) -> bool:
        """It says that nothing is in flight; False where it says anything else."""
        return await self.in_flight() == 0

    async def require(self, name: str) -> None:
        """One look, whatever the number is. Raises SubjectError where it answers no number: it would never be idle."""
        if await self.in_flight() is None:
            raise SubjectError(f"{name}: {self.says}; correct `idle`, or say `quiet_ms` instead of it")

    async def in_flight(self) -> int | None:
        """How many it says are; None where it says no number."""
        reply = await self.endpoint.get(self.path, self.within_ms)
        number = _number_in(reply)
        if number is None:
            self.says = f"asked at {self.path!r} what is in flight it {_answered(reply)}; expected {EXPECTED}"
        else:
            self.says = f"asked at {self.path!r} it said that {number} are in flight" if number else ""
        return number


def _number_in(reply: Reply) -> int | None:
    try:
        number = json.loads(reply.body)["in_flight"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if reply.arrival is not Arrival.WHOLE:
        return None
    return number if type(number) is int and number >= 0 else None


def _answered(reply: Reply) -> str:
    if reply.status is None or reply.arrival is not Arrival.WHOLE:
        return f"gave no whole answer ({reply.says or reply.arrival})"
    return f"answered {reply.status} with {reply.body[:_SHOWN]!r}"
