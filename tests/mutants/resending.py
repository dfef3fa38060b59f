"""Mutants that send again what may have run, or do not send again what was never applied."""

import asyncio
import json
from collections.abc import Sequence

from tests.mutants.forwarder import Forwarder, is_unapplied
from tests.mutants.sending import Address, Got, Link, Seen


class SendsSilenceAgain(Forwarder):
    """A read timeout is taken for a lost request."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or got.seen is Seen.SILENCE


class SendsServerErrorsAgain(Forwarder):
    """Every 5xx is taken for "not executed"."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or (got.seen is Seen.WHOLE and got.status is not None and got.status >= 500)


class TrustsRetryAfter(Forwarder):
    """A hint of when to come back is taken for a promise that nothing was done."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or got.retry_after != ""


class TakesReusedForUnread(Forwarder):
    """A connection that breaks under its second request is taken for one that had been closed while idle."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or (got.reused and got.seen in (Seen.RESET, Seen.CLOSED))


class TakesFreshResetForUnaccepted(Forwarder):
    """A reset of a connection that has carried no answer yet is taken for a reset at accept."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or (not got.reused and got.seen is Seen.RESET)


class SendsCutAnswersAgain(Forwarder):
    """A success whose body is cut is taken for a request that failed."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or got.seen is Seen.CUT


class SendsAllFailuresAgain(Forwarder):
    """Whatever is no result is asked for again, three times in all."""

    attempts = 3

    def may_send_again(self, got: Got) -> bool:
        return self.result([got]) is None


class Hedges(Forwarder):
    """What takes long is sent to the other upstream too, long before it is given up, and the first answer wins."""

    async def ask(self, link: Link, body: bytes) -> Got:
        return await link.ask(body, self.timeout_s * 5 / 3)

    async def send(self, upstream: Address, body: bytes) -> Got:
        first = asyncio.ensure_future(super().send(upstream, body))
        sendings = {first}
        try:
            done, _ = await asyncio.wait(sendings, timeout=self.timeout_s * 2 / 3)
            if not done:
                other = self.upstreams[(self.current + 1) % len(self.upstreams)]
                sendings.add(asyncio.ensure_future(super().send(other, body)))
                done, _ = await asyncio.wait(sendings, return_when=asyncio.FIRST_COMPLETED)
            return (first if first in done else done.pop()).result()
        finally:
            for sending in sendings:
                sending.cancel()
            await asyncio.wait(sendings)


class Behind(Forwarder):
    """Can send in the background, after its caller has had an answer."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.behind: set[asyncio.Task[None]] = set()

    def send_behind(self, body: bytes) -> None:
        """Counted as in flight from now on, so that a run is not taken for settled too early."""
        self.in_flight += 1
        task = asyncio.ensure_future(self._send_behind(body))
        self.behind.add(task)
        task.add_done_callback(self.behind.discard)

    async def _send_behind(self, body: bytes) -> None:
        try:
            self.move_on()
            await self.send(self.upstreams[self.current], body)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        for task in tuple(self.behind):
            task.cancel()
            await asyncio.wait([task])
        await super().close()


class SendsAgainBehindItsCaller(Behind):
    """The failure is reported at once, and the work is queued again for later."""

    async def forward(self, body: bytes) -> list[Got]:
        gots = await super().forward(body)
        if self.result(gots) is None:
            self.send_behind(body)
        return gots


class SendsAgainForCallersThatLeft(Behind):
    """A call that was cancelled is taken for one that failed, and its work is queued again."""

    async def forward(self, body: bytes) -> list[Got]:
        try:
            return await super().forward(body)
        except asyncio.CancelledError:
            self.send_behind(body)
            raise


class GoesOnForCallersThatLeft(Forwarder):
    """A call that was cancelled lives on behind its caller's back."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.behind: set[asyncio.Task[list[Got]]] = set()

    async def forward(self, body: bytes) -> list[Got]:
        task = asyncio.ensure_future(super().forward(body))
        self.behind.add(task)
        task.add_done_callback(self.behind.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        if self.behind:
            await asyncio.wait(self.behind)
        await super().close()


class NeverSendsAgain(Forwarder):
    """One sending, whatever it proves."""

    attempts = 1


class SendsAgainWithoutBody(Forwarder):
    """The body was a stream, and the first sending has used it up: the second has its length alone."""

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.used_up: set[bytes] = set()

    async def ask(self, link: Link, body: bytes) -> Got:
        withheld = body in self.used_up
        self.used_up.add(body)
        return await link.ask(body, self.timeout_s, withheld=withheld)


class SendsAgainAPart(SendsAgainWithoutBody):
    """The body was a stream, and the second sending encodes what is left of it: a whole request with half a prompt."""

    async def ask(self, link: Link, body: bytes) -> Got:
        if body in self.used_up:
            request = json.loads(body)
            request["prompt"] = request["prompt"][: 2 + len(request["prompt"]) // 2]
            return await link.ask(json.dumps(request).encode(), self.timeout_s)
        return await super().ask(link, body)
