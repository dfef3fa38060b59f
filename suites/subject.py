"""What the driver needs of a subject: facts about it, a way to start one in front of given upstreams, and then
calls, idleness and an end. Everything else about it is its own affair.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from fake_router.identity import Identity
from faults.form import Api
from faults.plan import PlannedOperation
from suites.history import Outcome
from suites.leaving import Leave
from suites.pulse import Pulse
from suites.run import SubjectFacts
from suites.way import Address

__all__ = ["Address", "CalledOverHttp", "InProcess", "Instance", "Isolation", "Subject", "SubjectError", "SubjectSpec"]


class Isolation(StrEnum):
    """Whether runs may share one instance of the subject."""

    FRESH = "fresh"  # every run has an instance of its own
    SHARED = "shared"  # it keeps no state between operations but its pool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSpec:
    """All that is known of a subject before it runs.

    upstreams: how many routers it wants to stand in front of. Time-outs in ms are what its configuration says; faults
    in time are placed around them. quiet_ms: longer than its longest back-off plus its connect time-out; None: it can
    say exactly when it is idle. call_ms: how long one call may take, back-offs included. reach: dimension or fault id
    -> why it cannot be reached. start_ms: how long an instance may take until it is ready. listen: where it was told to
    find its routers, since it runs already: there is only one instance of it; empty: they may be anywhere. probes:
    paths that its health checks ask for, beside the usual ones. apis: what it can be asked for, its own first. tls: it
    can stand in front of upstreams that speak TLS. identity: it was told to speak TLS to its routers, always, and this
    is who they are for it. passes_expect: an Expect: 100-continue that its caller sent to it goes on to its router.
    container: between it and our routers stands a container that can be struck; network: on a network of its own.
    limits: those of that container can be changed while it runs. host: where our routers are for it, unless it runs
    already. first_shared: of two, one behind the other, runs may share the first, though each has a second of its own.
    """

    facts: SubjectFacts
    version: str = ""
    upstreams: int = 1
    connect_timeout_ms: int = 300
    read_timeout_ms: int = 300
    quiet_ms: int | None = None
    call_ms: int = 0
    isolation: Isolation = Isolation.FRESH
    first_shared: bool = False
    reach: Mapping[str, str] = field(default_factory=dict)
    names: bool = False
    pool: bool = False
    start_ms: int = 10_000
    listen: tuple[Address, ...] = ()
    probes: Collection[str] = ()  # a mapping where it is said what is answered there
    tls: bool = False
    identity: Identity | None = None
    passes_expect: bool = False
    container: bool = False
    network: bool = False
    limits: bool = True
    host: str = "127.0.0.1"

    @property
    def standing(self) -> bool:
        """It runs already, and there is one of it."""
        return bool(self.listen)

    @property
    def always_tls(self) -> bool:
        """It cannot stand in front of upstreams that speak none."""
        return self.identity is not None

    apis: tuple[Api, ...] = tuple(Api)

    @property
    def plain(self) -> PlannedOperation:
        """An operation that nothing happens to, in words that it understands."""
        return PlannedOperation(api=self.apis[0].value)

    @property
    def ceiling_ms(self) -> int:
        """What does not settle within this time hangs: room for four attempts that time out, and their faults, or for
        the longest call.
        """
        usual_ms = 4 * (self.connect_timeout_ms + self.read_timeout_ms) + 2 * (self.quiet_ms or 0) + 5_000
        return max(usual_ms, self.call_ms)


def spoken_by_all(specs: Sequence[SubjectSpec]) -> tuple[Api, ...]:
    """What each of these subjects can be asked for, whatever their order."""
    return tuple(api for api in Api if all(api in spec.apis for spec in specs))


class SubjectError(Exception):
    """The subject could not run: a component is missing, it did not start, or it was never ready (exit code 4).

    The message says what was expected and what to do.
    """


class Instance(Protocol):
    """A subject that runs."""

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation whose content carries `number`, and wait for what its caller sees of it; after
        `ceiling_ms` the outcome is HUNG, and LEFT when the caller was told to leave before. Never raises for what the
        subject does.
        """

    async def idle(self) -> bool | None:
        """Nothing is in flight inside it; None: it cannot say."""

    def died(self) -> str | None:
        """How its process ended by itself; None while it lives."""

    async def stop(self) -> None:
        """End it and free what it holds. Safe to call twice."""


@runtime_checkable
class CalledOverHttp(Protocol):
    """An instance whose operations come over a connection."""

    @property
    def address(self) -> Address:
        """Where it is called."""

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""


class Subject(Protocol):
    """A subject that can be started, any number of times and several at once."""

    @property
    def spec(self) -> SubjectSpec:
        """What is known of it."""

    async def start(self, upstreams: Sequence[Address]) -> Instance:
        """An instance that forwards to these addresses and is ready. Raises SubjectError."""


@runtime_checkable
class InProcess(Protocol):
    """A subject that lives on a loop of this process, which can come late like any of ours."""

    async def pulse(self) -> Pulse:
        """A pulse on that loop."""


@runtime_checkable
class Patient(Protocol):
    """A subject that can be had with other time-outs."""

    def patient(self) -> Subject:
        """The same, with time-outs so long that whoever shares its process ends none of them."""


@runtime_checkable
class Layered(Protocol):
    """An instance that is two, one behind the other."""

    def passed(self) -> Counter[int]:
        """How often each operation was sent from the first to the second."""


class Tells(Protocol):
    """Where an instance that is asked over HTTP keeps what it last said of itself."""

    says: str


@runtime_checkable
class Telling(Protocol):
    """An instance that is asked at a path what is in flight inside it; what it says may be of no use."""

    idleness: Tells
