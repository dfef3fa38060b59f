"""What is observed: each fault on a first connection, on a reused one where it strikes an exchange, over TLS, and with
a GET where it strikes one connection.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from faults.acts import AnswerEarly, needs_tcp, needs_tls
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.coverage import COSTLY
from faults.fault import Fault
from faults.form import COMPLETION
from faults.plan import Plan, PlanError
from faults.truth import shows_its_cause, sight_is_certain
from faults.vocabulary import Ending, Sight
from suites.cells import all_cells
from suites.evidence.client import Patience
from suites.way import way_of

LARGE_BYTES = 16 * 1024 * 1024  # more than the kernel takes while nobody reads
SHORT_S = 0.2  # where the fault is that nothing comes
LONG_S = 5.0  # where something comes: a busy machine is no fault
_RACE = "the end may meet the client before, while or after it writes its request: the router cannot choose"
_NEAR = "the reply comes close to the read timeout: on either side of it"


_ALERT_RACE = "the alert may arrive together with the bytes before it, and then some clients see it first"
_UNCONNECTED = frozenset({Sight.CONNECT_TIMEOUT, Sight.TLS_STALLED})
# Some clients wait for a handshake as for an answer.
_UNANSWERED = frozenset({Sight.SILENCE, Sight.STALL, Sight.TLS_STALLED})


class How(StrEnum):
    """What is sent, on which connection."""

    FIRST = "first"  # a POST on a first connection
    REUSED = "reused"  # a POST on a connection that has carried one
    TLS = "TLS"  # a POST on a first connection, over TLS; a fault that strikes TLS alone is always met there
    LARGE = "16 MiB"  # a POST of that size on a first connection, where it is answered before it was read
    GET = "GET"  # a GET on a first connection; its next connection is healthy


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault, met in one way."""

    fault: Fault
    how: How
    plan: Plan

    @property
    def method(self) -> str:
        """What is sent."""
        return "GET" if self.how is How.GET else "POST"

    @property
    def content_bytes(self) -> int:
        """At least how large the request is."""
        return LARGE_BYTES if self.how is How.LARGE else 0

    @property
    def patience(self) -> Patience:
        """Small where the fault is that nothing comes, for the client waits for all of it."""
        sight = self.fault.evidence.sight
        return Patience(
            connect_s=SHORT_S if sight in _UNCONNECTED else LONG_S, read_s=SHORT_S if sight in _UNANSWERED else LONG_S
        )

    @property
    def waits(self) -> bool:
        """A client waits for a time-out of its own."""
        return self.fault.evidence.sight in _UNCONNECTED | _UNANSWERED

    @property
    def race(self) -> str:
        """Why what is seen of it may vary; empty where it may not."""
        act = self.fault.act
        if not shows_its_cause(act) or self.how is How.LARGE:
            return _RACE
        if not sight_is_certain(act):
            return _NEAR
        return _ALERT_RACE if isinstance(act, Answer) and act.ending is Ending.ALERT else ""


def all_cases() -> list[Case]:
    """Of the whole catalogue, in its order. The plans are those of the cells."""
    found: dict[tuple[str, How], Case] = {}
    for cell in all_cells():
        how = How.REUSED if cell.reused else How.FIRST
        if cell.fault.coverage is COSTLY:
            continue
        if way_of(cell.plan).max_connections:
            continue  # it strikes between two operations of one client, and here there is one
        if cell.plan.operations[0].expect:
            continue  # of itself no client sends an Expect
        plain = cell.plan.upstreams == 1 and cell.segments == 1 and cell.form == COMPLETION and cell.leaves is None
        if plain and cell.plan.tls is needs_tls(cell.fault.act):
            found.setdefault((cell.fault.id, how), Case(fault=cell.fault, how=how, plan=cell.plan))
    more = (case for first in found.values() if first.how is How.FIRST for case in _beside(first))
    return sorted((*found.values(), *more), key=lambda case: list(CATALOGUE).index(case.fault.id))


def _beside(first: Case) -> Iterator[Case]:
    if not first.plan.tls and not needs_tcp(first.fault.act):
        yield replace(first, how=How.TLS, plan=replace(first.plan, tls=True))
    if isinstance(first.fault.act, AnswerEarly):
        yield replace(first, how=How.LARGE)
    yield from _with_get(first)


def _with_get(case: Case) -> Iterator[Case]:
    """A GET carries no operation, so only a listener's fault can strike it; the next connection is healthy."""
    listeners = case.plan.listeners
    if listeners:
        try:
            once = tuple(replace(listener, connections=1) for listener in listeners)
        except PlanError:
            return  # it strikes before there is a connection to count
        yield replace(case, how=How.GET, plan=replace(case.plan, listeners=once))
