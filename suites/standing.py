"""Subjects that run already, somewhere: they are called at a URL, and nobody starts or ends them."""

import asyncio
import time
from collections.abc import Sequence

from faults.plan import PlannedOperation
from suites.asking import asking
from suites.caller import NO_CONNECTION
from suites.endpoint import Endpoint, endpoint_of
from suites.history import Arrival, Outcome
from suites.idleness import Idleness
from suites.leaving import Leave
from suites.pipe import TLS_FAILED
from suites.subject import Address, SubjectError, SubjectSpec
from suites.subject_text import SubjectFile

_PAUSE_S = 0.05  # between two looks at whether it is ready


class StandingSubject:
    """The only instance of a subject, at its URL: a Subject. Raises OSError for a CA file that is none."""

    def __init__(self, file: SubjectFile) -> None:
        self.file = file
        self._endpoint = endpoint_of(file)
        self._asked = not file.idle

    @property
    def spec(self) -> SubjectSpec:
        """What is known of it."""
        return self.file.spec

    async def start(self, upstreams: Sequence[Address] = ()) -> "StandingInstance":
        """It, once it is ready. Where its router has to be it knows already. Raises SubjectError."""
        del upstreams
        file, deadline_s = self.file, time.monotonic() + self.spec.start_ms / 1000
        if why := await self._endpoint.unconnectable(self.spec.start_ms / 1000):
            raise SubjectError(f"{file.url} cannot be reached ({why}); expected {_expected(why, file)}")
        while (left_s := deadline_s - time.monotonic()) > 0:
            if file.ready == "tcp" or await self._endpoint.is_ready(file.ready, max(1, int(left_s * 1000))):
                instance = StandingInstance(file, self._endpoint)
                if not self._asked:
                    await instance.idleness.require(file.url)
                    self._asked = True
                return instance
            await asyncio.sleep(_PAUSE_S)  # another's readiness gives no event
        raise SubjectError(
            f"{file.url} was not ready within {self.spec.start_ms} ms; expected a GET of {file.ready!r} to be answered "
            "with 200; correct `ready`, or raise `start_ms`"
        )


def _expected(why: str, file: SubjectFile) -> str:
    """What would have let us in."""
    if not why.startswith(TLS_FAILED):
        return "a forwarder that is running there"
    if "WRONG_VERSION_NUMBER" in why:
        return "one that speaks TLS there; or an http:// URL"
    believed = f"one of a CA in {str(file.ca_file)!r}" if file.ca_file else "one of a CA that this machine trusts"
    return f"a certificate that can be believed, {believed}; name the file of its CA with `ca_file`"


class StandingInstance:
    """A subject that runs: an Instance. Made by StandingSubject.start."""

    def __init__(self, file: SubjectFile, endpoint: Endpoint) -> None:
        self._file = file
        self._endpoint = endpoint
        self._asking = asking(endpoint, file)
        self.idleness = Idleness(endpoint=endpoint, path=file.idle, within_ms=file.spec.read_timeout_ms)
        self._gone: str | None = None

    @property
    def address(self) -> Address:
        """Where it is."""
        return self._endpoint.address

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""
        self._endpoint, self._asking = self._endpoint.through(way_in), self._asking.through(way_in)

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation and wait for what its caller sees of it. Never raises for what the subject does."""
        outcome = await self._asking.call(planned, number, ceiling_ms, leave)
        why = await self._unconnectable(outcome) if outcome.arrival is Arrival.NOTHING else None
        self._gone = None if why is None else f"{self._file.url} accepts no connection any more ({why})"
        return outcome

    async def _unconnectable(self, outcome: Outcome) -> str | None:
        """Why nobody was there. What leads to it may accept though nobody is behind it."""
        if self._endpoint.way_in is not None:
            return await self._endpoint.unconnectable(self._file.spec.start_ms / 1000)
        return outcome.says if outcome.says.startswith(NO_CONNECTION) else None

    async def idle(self) -> bool | None:
        """What it says of itself where there is a path to ask; else it cannot say."""
        if not self._file.idle:
            return None
        return self._gone is not None or await self.idleness.ask()

    def died(self) -> str | None:
        """Nobody was there at the last call; None while somebody is."""
        return self._gone

    async def stop(self) -> None:
        """It is not ours to end."""
