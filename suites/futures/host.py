"""A server of futures as the suites hold it: what it promises, where it answers, how it is ended and begun again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from suites.endpoint import Endpoint
from suites.futures.control import Control
from suites.futures.record import Terms
from suites.futures.script import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What the suites can do to a server from outside, and why they cannot do the rest. Each empty: they can."""

    no_clock: str = ""
    no_restart: str = ""
    no_sqlite: str = ""
    no_vanishing: str = ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a subject's file says of its futures. options: further words of its command, with {store} and {clock_ms},
    that give the suites its store and its clock.
    """

    terms: Terms = field(default_factory=Terms)
    options: Sequence[str] = ()

    def words(self, store: Store, clock_ms: int) -> list[str]:
        """The options, filled but for what every command knows."""
        where = "memory" if store is Store.MEMORY else "sqlite:{dir}/futures.db"
        known = {"{store}": where, "{clock_ms}": str(clock_ms)}
        return [known.get(word, word) for word in self.options]
