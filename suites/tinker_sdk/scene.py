"""One scenario on one server: what the SDK asks, what befalls it on the way, and when. Order comes from the router's
gates, from the server's own word that it rests, and from Toxiproxy's that a toxic lies; nothing is waited for by time.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fake_router.content import prompt_tokens
from faults.toxics import Direction, Toxic
from suites.futures.control import Control, Quiet
from suites.futures.gates import Gates
from suites.futures.host import Host
from suites.futures.offer import Terms
from suites.numbers import Numbers
from suites.tinker_sdk.hop import Hop
from suites.tinker_sdk.judging import Asked, Expect, SdkRecord
from suites.tinker_sdk.orders import Asking, Compute, Returned, Sample
from suites.tinker_sdk.process import SdkClient, SdkProcess

WITHIN_S = 30.0  # until what must come has come: the SDK pauses for 1, 2, 4 ... s after a connection is lost
LEAVING_S = 5.0  # until a server that looks has seen that a poll's connection has ended
_LOOK_S = 0.001


class NotHappenedError(Exception):
    """The scenario did not come to pass, so nothing is shown."""


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of the SDK that is under way. number: of its operation."""

    order: Asking
    number: int
    answer: "asyncio.Future[Returned]"


@dataclass(slots=True, kw_only=True)
class Scene:
    """What a scenario can do."""

    host: Host
    gates: Gates
    numbers: Numbers
    sdk: SdkProcess
    client: SdkClient
    hop: Hop | None = None
    calls: list[Call] = field(default_factory=list)

    # What is asked.

    async def sample(
        self,
        *,
        held: bool = False,
        fault: str = "",
        num_samples: int = 1,
        stop: tuple[int, ...] = (),
        prompt_logprobs: bool = False,
        topk: int = 0,
    ) -> Call:
        """sample(). held: the router keeps it, once received, until it lands; fault: what its first sending meets."""
        number = await self._prepared(held, fault)
        order = Sample(
            client=self.client.number,
            call=self.sdk.next_call(),
            prompt=tuple(prompt_tokens(number)),
            num_samples=num_samples,
            seed=number,
            stop=stop,
            prompt_logprobs=prompt_logprobs,
            topk=topk,
        )
        return self._asked(order, number)

    async def compute(self) -> Call:
        """compute_logprobs()."""
        number = await self._prepared(held=False, fault="")
        prompt = tuple(prompt_tokens(number))
        return self._asked(Compute(client=self.client.number, call=self.sdk.next_call(), prompt=prompt), number)

    async def _prepared(self, held: bool, fault: str) -> int:
        (number,) = self.numbers.take(1)
        if held or fault:
            await self.gates.hold(number, (fault,) if fault else ())
        if fault and not held:
            await self.gates.open(number)
        return number

    def _asked(self, order: Asking, number: int) -> Call:
        call = Call(order=order, number=number, answer=self.sdk.ask(order))
        self.calls.append(call)
        return call

    # What is waited for.

    async def received(self, call: Call) -> None:
        """The router has read it."""
        if not await self.gates.routers.call(self.gates.router.wait_received, call.number, WITHIN_S):
            raise NotHappenedError(f"the router did not receive operation {call.number} within {WITHIN_S:g} s")

    async def polled(self, polls: int = 1) -> None:
        """So many polls wait in the server."""
        await self._until(lambda quiet: _polls(quiet) == polls, f"{polls} polls in the server")

    async def left(self) -> None:
        """The server has seen that no poll waits any more; or it does not look, which is its affair."""
        with suppress(NotHappenedError):
            await self._until(lambda quiet: not _polls(quiet), "nobody waiting", within_s=LEAVING_S)

    async def landed(self, *calls: Call) -> None:
        """The router lets go of them, and the server is done with them."""
        for call in calls:
            await self.gates.open(call.number)
            await self._until(lambda quiet: quiet.in_flight == self._held(), "the server done with what has landed")

    def _held(self) -> int:
        return len(self.gates.held())

    async def _until(self, so: Callable[[Quiet], bool], what: str, *, within_s: float = WITHIN_S) -> None:
        deadline = time.monotonic() + within_s
        while not so(quiet := await self.control.settle()):
            if time.monotonic() > deadline or all(call.answer.done() for call in self.calls):
                raise NotHappenedError(f"expected {what} within {within_s:g} s; the server says {quiet!r}")
            await asyncio.sleep(_LOOK_S)  # what is still on its way to the server cannot be waited for by it

    async def over(self) -> None:
        """All calls have returned, or take too long, and nothing is held that was sent for them."""
        await self.gates.heal()
        if self.calls:
            await asyncio.wait([call.answer for call in self.calls], timeout=WITHIN_S)
        await self.gates.routers.call(self.gates.router.wait_idle, WITHIN_S)

    # What befalls it.

    async def lay(self, toxic: Toxic) -> None:
        """Over every connection of the SDK."""
        await self._way.lay(toxic)

    async def lift(self, *, lost: Direction | None = None, leaving: int = 0) -> None:
        """All pass again, but for what the first `leaving` toxics do. lost: bytes in that direction were lost before.
        Raises NotHappenedError where they were not, or where a call has returned: what befell the way struck nothing.
        """
        if lost is not None and not await self._way.lost(lost):
            raise NotHappenedError(f"Toxiproxy has lost no bytes {lost}")
        early = [call.number for call in self.calls if call.answer.done()]
        if early:
            raise NotHappenedError(f"operations {early} had returned before the way was whole again")
        await self._way.lift(leaving)

    async def advance(self, ms: int) -> None:
        """The server's clock goes on."""
        await self.control.advance(ms)

    async def restart(self, *, killed: bool) -> None:
        """The server is ended and begun again at the same time of its clock."""
        quiet = await self.control.settle()
        await self.host.end(killed=killed)
        await self.host.begin(quiet.now_ms)

    # What is known.

    @property
    def terms(self) -> Terms:
        """What the server promises."""
        return self.host.terms

    @property
    def control(self) -> Control:
        """Its clock."""
        assert self.host.control is not None
        return self.host.control

    @property
    def _way(self) -> Hop:
        assert self.hop is not None
        return self.hop

    def record(self, expects: Expect, strikes: int) -> SdkRecord:
        """What there is to judge."""
        return SdkRecord(
            asked=tuple(
                Asked(order=call.order, number=call.number, answer=call.answer.result() if call.answer.done() else None)
                for call in self.calls
            ),
            ledger=self.gates.entries(),
            expects=expects,
            strikes=strikes,
        )


def _polls(quiet: Quiet) -> int:
    return sum(quiet.waiting.values())
