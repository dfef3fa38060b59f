"""Mutants whose successes are none, or another's."""

import asyncio
from collections import deque
from collections.abc import Sequence

from tests.mutants.forwarder import Forwarder, Result, result_in
from tests.mutants.sending import Address, Got, Link, Seen


class TakesEvery200ForSuccess(Forwarder):
    """What is no completion is passed on as one without tokens."""

    def result(self, gots: Sequence[Got]) -> Result | None:
        got = gots[-1]
        if got.seen is Seen.WHOLE and got.status == 200:
            return result_in(got.body) or ((), got.body.decode("latin-1"))
        return None


class TakesWhatParsesForWhole(Forwarder):
    """A body that is JSON is taken for complete, though its last chunk never came."""

    def result(self, gots: Sequence[Got]) -> Result | None:
        return result_in(gots[-1].body) if gots[-1].success_head else None


class PoolsWhatIsOwedAnAnswer(Forwarder):
    """A connection whose answer was not waited for goes back to the pool: the next request gets that answer."""

    def done_with(self, link: Link, got: Got) -> None:
        if got.seen is Seen.SILENCE:
            self.pool.append(link)
        else:
            super().done_with(link, got)

    def is_fit(self, link: Link) -> bool:
        return link.waiting() != b""

    async def ask(self, link: Link, body: bytes) -> Got:
        owed = link.waiting() is not None
        got = await super().ask(link, body)
        # Its own answer is let come, so that the router has always seen this request before the caller goes on.
        while owed and not link.spent and link.waiting() is None:  # noqa: ASYNC110  a look gives no event
            await asyncio.sleep(0)
        return got


class HandsAnswersOutInOrder(Forwarder):
    """Whoever has waited longest gets the next answer, whoever it is for."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.waiting: deque[asyncio.Future[list[Got]]] = deque()

    async def forward(self, body: bytes) -> list[Got]:
        mine: asyncio.Future[list[Got]] = asyncio.get_running_loop().create_future()
        self.waiting.append(mine)
        sending = asyncio.ensure_future(super().forward(body))
        sending.add_done_callback(self._hand_out)
        return await mine

    def _hand_out(self, done: asyncio.Future[list[Got]]) -> None:
        longest = self.waiting.popleft()
        if not longest.done():  # its caller may have left
            longest.set_result(done.result())


class RemembersOneResult(Forwarder):
    """Results are cached under a key that leaves the prompt out."""

    remembered: Got | None = None

    async def forward(self, body: bytes) -> list[Got]:
        if self.remembered is not None:
            return [self.remembered]
        gots = await super().forward(body)
        if self.result(gots) is not None:
            self.remembered = gots[-1]
        return gots
