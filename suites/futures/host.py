"""A server of futures as the suites hold it: what it promises, where it answers, how it is ended and begun again."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from faults.disturbance import Disturbing
from suites.disturbed import Disturbable
from suites.endpoint import Endpoint
from suites.futures.control import Control
from suites.futures.offer import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What the suites can do to a server from outside, and why they cannot do the rest. Each empty: they can."""

    no_clock: str = ""
    no_restart: str = ""
    no_sqlite: str = ""
    no_room: str = ""
    no_vanishing: str = ""
    no_container: str = ""
    no_network: str = ""
    no_limits: str = ""

    def no_strike(self, how: Disturbing) -> str:
        """Why that cannot be done to the container of its router."""
        network = self.no_network if how.needs_network else ""
        return self.no_container or network or (self.no_limits if how.needs_limits else "")


class Host(Protocol):
    """One server, through all its lives."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers."""

    @property
    def terms(self) -> Terms:
        """What it promises."""

    @property
    def control(self) -> Control | None:
        """Its test clock; None where it has none."""

    async def end(self, *, killed: bool) -> str:
        """Its process is told to end, and has ended in that way; empty where it had not by the ceiling (it is killed
        then).
        """

    async def begin(self, now_ms: int) -> bool:
        """It answers again, at that time of its clock; True: on what the one before it has stored. Raises
        SubjectError.
        """


@runtime_checkable
class Contained(Disturbable, Protocol):
    """A server with a container between it and its routers, that something can be done to."""

    async def in_flight(self) -> int | None:
        """How many operations it says are in flight; None where it says no number."""


class OwnHost(Host, Protocol):
    """A server that is closed when it is needed no more."""

    async def close(self) -> None:
        """Nothing of it is left."""
