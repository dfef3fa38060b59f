"""Mutants that hang, stay dead, leak, or never meet what they should."""

import asyncio
from collections.abc import Sequence

from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Address, Got, Link, Seen

_AGES_S = 3_600


class WaitsForEver(Forwarder):
    """Without a read timeout."""

    async def ask(self, link: Link, body: bytes) -> Got:
        return await link.ask(body, _AGES_S)


class NeverGivesUp(Forwarder):
    """Safe failures are sent again without a budget, and nearly without a pause."""

    attempts = 1_000_000

    async def send(self, upstream: Address, body: bytes) -> Got:
        got = await super().send(upstream, body)
        await asyncio.sleep(self.timeout_s / 60)  # the back-off of this mutant
        return got


class ClosesItsPoolForGood(Forwarder):
    """After one reset its session is closed, and nobody makes a new one."""

    closed = False

    async def send(self, upstream: Address, body: bytes) -> Got:
        if self.closed:
            return Got(seen=Seen.UNCONNECTED)
        got = await super().send(upstream, body)
        self.closed = self.closed or got.seen is Seen.RESET
        return got


class StrikesUpstreamsOff(Forwarder):
    """An upstream that refused once is never tried again."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.struck_off: set[Address] = set()

    async def dial(self, upstream: Address) -> Link | Seen:
        if upstream in self.struck_off:
            return Seen.REFUSED
        link = await super().dial(upstream)
        if isinstance(link, Seen):
            self.struck_off.add(upstream)
        return link


class ForgetsConnectionsOfErrors(Forwarder):
    """The connection of an answer that is no success is neither closed nor used again."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.forgotten: list[Link] = []

    def done_with(self, link: Link, got: Got) -> None:
        if got.status is None or got.success_head:
            super().done_with(link, got)
        else:
            self.forgotten.append(link)

    async def close(self) -> None:
        for link in self.forgotten:
            link.close()
        await super().close()


class BeginsWithAnOpenBreaker(Forwarder):
    """Its first operation is turned down, honestly, and never sent."""

    tripped = True

    async def forward(self, body: bytes) -> list[Got]:
        tripped, self.tripped = self.tripped, False
        return [Got(seen=Seen.UNCONNECTED)] if tripped else await super().forward(body)


class NeverReuses(Forwarder):
    """Every request has a connection of its own, and nobody was told."""

    def done_with(self, link: Link, got: Got) -> None:
        link.close()


class ReusesWhatHasEnded(Forwarder):
    """It does not look at an idle connection before it writes on it."""

    def is_fit(self, link: Link) -> bool:
        return True
