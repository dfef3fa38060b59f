"""Mutants as subjects: called in this process, on the loop of the driver."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faults.evidence import REFERENCE_CONTRACT
from faults.form import Api
from faults.plan import PlannedOperation
from suites.history import Arrival, Kind, Outcome
from suites.leaving import Leave, until_told
from suites.run import Promise, SubjectFacts
from suites.sent import sent_content
from suites.subject import Address, Instance, SubjectSpec
from suites.workload import completion_request
from tests.mutants.forwarder import Forwarder

TIMEOUT_MS = 300
UPSTREAMS = 2

Make = Callable[[Sequence[Address], float], Forwarder]


IN_PROCESS = {"streaming": "it reads answers whole"}
SERVED = IN_PROCESS | {"leaves": "it does not watch its caller while it waits for the router"}


def spec_of(name: str, promises: Promise = Promise.ANSWERING, *, in_process: bool = True) -> SubjectSpec:
    """What is known of a mutant: the same as of the forwarder that it could have been."""
    facts = SubjectFacts(name=name, promises=promises, contract=REFERENCE_CONTRACT, called=in_process)
    return SubjectSpec(
        facts=facts,
        upstreams=UPSTREAMS,
        connect_timeout_ms=TIMEOUT_MS,
        read_timeout_ms=TIMEOUT_MS,
        quiet_ms=None,
        reach=IN_PROCESS if in_process else SERVED,
        apis=(Api.COMPLETIONS,),
    )


Start = Callable[[Sequence[Address]], Awaitable[Instance]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantSubject:
    """A Subject out of a function that starts an instance."""

    spec: SubjectSpec
    starting: Start

    async def start(self, upstreams: Sequence[Address]) -> Instance:
        """An instance in front of these addresses."""
        return await self.starting(upstreams)


def called(name: str, make: Make, *, tls: bool = False) -> MutantSubject:
    """A mutant that is called in process; tls: it lives through the cells over TLS too."""

    async def start(upstreams: Sequence[Address]) -> Instance:
        return CalledInstance(make(upstreams, TIMEOUT_MS / 1000))

    return MutantSubject(spec=replace(spec_of(name), tls=tls), starting=start)


class CalledInstance:
    """What the forwarder returns is the outcome."""

    def __init__(self, forwarder: Forwarder) -> None:
        self._forwarder = forwarder

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation; it is given up at the ceiling, and cancelled when its caller leaves."""
        request = completion_request(number, body_bytes=planned.body_bytes)
        sent = sent_content(request)
        if leave is None:
            return replace(await self._call(request, number, ceiling_ms), sent=sent)
        began_ns = time.monotonic_ns()
        outcome = await until_told(self._call(request, number, ceiling_ms), leave)
        if outcome is not None:
            return outcome
        leave.left.set()
        return Outcome(
            operation=number,
            kind=Kind.UNKNOWN,
            arrival=Arrival.LEFT,
            says=leave.says,
            left=True,
            sent=sent,
            invoked_at_ns=began_ns,
            ended_at_ns=time.monotonic_ns(),
        )

    async def _call(self, request: dict[str, Any], number: int, ceiling_ms: int) -> Outcome:
        began_ns = time.monotonic_ns()
        kind, arrival, result = Kind.UNKNOWN, Arrival.RETURNED, None
        try:
            async with asyncio.timeout(ceiling_ms / 1000):
                gots = await self._forwarder.forward(json.dumps(request).encode())
            result = self._forwarder.result(gots)
            if result is not None:
                kind = Kind.OK
            elif self._forwarder.says_not_executed(gots):
                kind = Kind.FAILED
        except TimeoutError:
            arrival = Arrival.HUNG
        tokens, text = result if result is not None else (None, None)
        return Outcome(
            operation=number,
            kind=kind,
            arrival=arrival,
            tokens=tokens,
            text=text,
            invoked_at_ns=began_ns,
            ended_at_ns=time.monotonic_ns(),
        )

    async def idle(self) -> bool | None:
        """It counts what it has in flight."""
        return self._forwarder.in_flight == 0

    def died(self) -> str | None:
        """It lives as long as this process."""
        return None

    async def stop(self) -> None:
        """Let go of its sockets."""
        await self._forwarder.close()
