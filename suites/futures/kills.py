"""A server that is killed in the midst of work, at an exact event: when the router has written its n-th entry, or when
its callers have had their n-th answer. Afterwards everybody comes back with what they know.

Nothing is held and nobody waits for quiescence here: that is what scripts are for.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fake_router.server import Router
from fake_router.thread import RouterThread
from suites.findings import Finding
from suites.futures.calls import Calls
from suites.futures.checks.crash import NEVER_SENT_AGAIN, NOTHING_FORGOTTEN, RESTARTED
from suites.futures.checks.executions import AT_MOST_ONCE
from suites.futures.checks.ids import HONEST_IDS, UNIQUE_IDS
from suites.futures.checks.keys import FIRST_ID
from suites.futures.checks.results import OWN_RESULT, SAME_BYTES
from suites.futures.process_host import ProcessHost
from suites.futures.record import (
    Answer,
    Answered,
    AnyFact,
    Asked,
    Began,
    Ended,
    Kind,
    Landed,
    Opened,
    Reached,
    Record,
    Submitted,
)
from suites.futures.script import script_of
from suites.futures.steps import Restart
from suites.futures.theatre import FIRST_MS
from suites.numbers import Numbers

OPERATIONS = 12
WITHIN_MS = 20_000  # until what was in flight when it was killed has an outcome
CHECKS = (
    AT_MOST_ONCE,
    NEVER_SENT_AGAIN,
    NOTHING_FORGOTTEN,
    SAME_BYTES,
    OWN_RESULT,
    HONEST_IDS,
    UNIQUE_IDS,
    FIRST_ID,
)


class By(StrEnum):
    """Whose events are counted."""

    ROUTER = "router"  # entries of its ledger
    CALLERS = "callers"  # answers to submits and polls


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The n-th event of that kind, from 1. One that never comes is after all of them."""

    by: By
    event: int


@dataclass(slots=True)
class Killing:
    """One server, killed once. It has a store that outlives its process."""

    host: ProcessHost
    router: Router
    routers: RouterThread
    numbers: Numbers
    point: Point
    _facts: list[AnyFact] = field(default_factory=list)
    _answers: int = 0
    _killed: bool = False
    _calls: Calls = field(init=False)
    _landed: set[int] = field(default_factory=set)

    async def live(self) -> Record:
        """From its beginning to the last answer after its second beginning. Raises SubjectError."""
        await self.host.begin(FIRST_MS)
        await self.routers.call(self.router.reset)
        self._calls = Calls(self.host.endpoint, self.numbers)
        name, says = await self._calls.open_session(0)
        self._saw(Opened, session=0, sampling_session=name, says=says)
        forget = self.router.ledger.on_record(self._entry) if self.point.by is By.ROUTER else None
        for _ in range(OPERATIONS):
            self._calls.begin(0)
        await asyncio.gather(*(self._first(operation) for operation in range(OPERATIONS)))
        if forget is not None:
            forget()
        await self._restart()
        await asyncio.gather(*(self._later(operation) for operation in range(OPERATIONS)))
        return Record(
            script=script_of((Restart(killed=True),)),
            terms=self.host.terms,
            facts=tuple(self._facts),
            ledger=self.router.ledger.since(),
            numbers=tuple(self._calls.numbers),
        )

    def _entry(self) -> None:
        """On the routers' thread, as soon as the entry is there."""
        if len(self.router.ledger) >= self.point.event:
            self._kill()

    def _kill(self) -> None:
        if not self._killed:
            self._killed = True
            self.host.kill()

    async def _first(self, operation: int) -> None:
        answer = await self._submit(operation, again=False)
        if answer.kind is Kind.TAKEN:
            await self._poll(operation, answer.request_id, operation)

    async def _later(self, operation: int) -> None:
        answer = await self._submit(operation, again=True)
        poll = OPERATIONS + operation
        while answer.kind is Kind.TAKEN and not await self._poll(operation, answer.request_id, poll):
            poll += OPERATIONS

    async def _submit(self, operation: int, *, again: bool) -> Answer:
        answer = await self._calls.submit(operation)
        assert answer is not None
        number = self._calls.number_of(operation)
        self._saw(Submitted, operation=operation, session=0, number=number, answer=answer, again=again)
        self._answered()
        return answer

    async def _poll(self, operation: int, request_id: str, poll: int) -> bool:
        """True: there is nothing more to be had."""
        self._saw(Asked, poll=poll, operation=operation, request_id=request_id)
        await self._calls.poll(poll, request_id)
        answer = await self._calls.read(poll, WITHIN_MS)
        self._calls.polls[poll].close()
        answer = answer or Answer(kind=Kind.NOTHING, says="nothing in time")
        if answer.kind in (Kind.RESULT, Kind.FAILED) and operation not in self._landed:
            self._landed.add(operation)
            self._saw(Landed, operation=operation)
        self._saw(Reached, poll=poll)
        self._saw(Answered, poll=poll, answer=answer)
        self._answered()
        return answer.kind is not Kind.TRY_AGAIN

    def _answered(self) -> None:
        self._answers += 1
        if self.point.by is By.CALLERS and self._answers >= self.point.event:
            self._kill()

    async def _restart(self) -> None:
        how = await self.host.end(killed=True)
        self._killed = True
        self._saw(Ended, killed=True, how=how)
        await self.routers.call(self.router.wait_idle, WITHIN_MS / 1000)
        await self.routers.call(self.router.note, RESTARTED)
        self._saw(Began, kept=await self.host.begin(FIRST_MS))

    def _saw(self, kind: Callable[..., AnyFact], **facts: Any) -> None:
        step = len(self._facts)
        self._facts.append(kind(step=step, now_ms=FIRST_MS, at_ns=time.monotonic_ns(), **facts))


def judge_killing(record: Record) -> list[Finding]:
    """What a kill in the midst of work must not do: run twice, forget, send again, or change what was told once."""
    return [finding for check in CHECKS for finding in check.judge(record)]
