"""Mutants that say, or know, what their evidence does not show."""

import json
from collections.abc import Sequence

from fake_router.content import MAX_NUMBER, prompt_tokens
from suites.workload import MODEL
from tests.mutants.forwarder import Forwarder, is_unapplied, result_in
from tests.mutants.resending import Behind
from tests.mutants.sending import Address, Got, Link, Seen

# Another caller's operation, of which the run knows nothing: work that names none would leave the run unproved.
_FOR_NOBODY = json.dumps({"model": MODEL, "prompt": prompt_tokens(MAX_NUMBER)}).encode()


class SaysSilenceWasNotExecuted(Forwarder):
    """No answer in time is reported as "not executed"."""

    def says_not_executed(self, gots: Sequence[Got]) -> bool:
        return all(is_unapplied(got) or got.seen is Seen.SILENCE for got in gots)


class SaysLostResultsWereNotExecuted(Forwarder):
    """A success whose body is cut or no result is reported as "not executed"."""

    def says_not_executed(self, gots: Sequence[Got]) -> bool:
        return all(is_unapplied(got) or got.success_head for got in gots)


class SaysServerErrorsWereNotExecuted(Forwarder):
    """An answer that is no success is reported as "not executed"."""

    def says_not_executed(self, gots: Sequence[Got]) -> bool:
        return all(is_unapplied(got) or (got.status is not None and not got.success_head) for got in gots)


class SaysNoAndSendsAgain(Behind):
    """A safe failure is reported as "not executed", and then the work is sent again for nobody."""

    attempts = 1

    async def forward(self, body: bytes) -> list[Got]:
        gots = await super().forward(body)
        if self.says_not_executed(gots):
            self.send_behind(body)
        return gots


class KnowsTheTruth(Forwarder):
    """Learns whether a request whose connection was closed has run: the number of an execution that is made for
    nobody tells how many there were before. Of two connections that end alike it treats two unlike.
    """

    executions = 0
    unrun: Got | None = None

    async def send(self, upstream: Address, body: bytes) -> Got:
        got = await super().send(upstream, body)
        if got.seen is Seen.CLOSED:
            before = self.executions
            self._count(await super().send(upstream, _FOR_NOBODY))
            if self.executions == before + 1:
                self.unrun = got
        self._count(got)
        return got

    def _count(self, got: Got) -> None:
        result = result_in(got.body)
        if result is not None:
            self.executions = max(self.executions, result[0][2])


class SaysWhatItCannotKnow(KnowsTheTruth):
    """It reports "not executed" exactly where that is true."""

    def says_not_executed(self, gots: Sequence[Got]) -> bool:
        return all(is_unapplied(got) or got is self.unrun for got in gots)


class SendsAgainWhatItCannotKnow(KnowsTheTruth):
    """It sends again exactly what has not run."""

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or got is self.unrun


class WaitsLongerThanItSays(Forwarder):
    """Its read timeout is overridden somewhere by one three times as long."""

    async def ask(self, link: Link, body: bytes) -> Got:
        return await link.ask(body, self.timeout_s * 3)
