"""What is observed: each fault on a first connection, on a reused one where it strikes an exchange, over TLS, and with
a GET where it strikes one connection. What needs more of its client than a plain POST is observed in one way alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from faults.acts import AnswerEarly, needs_expectation, needs_stream, needs_tcp, needs_tls
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.coverage import COSTLY
from faults.fault import Fault
from faults.form import COMPLETION, STREAM, Form
from faults.plan import Plan, PlanError
from faults.sight import shows_its_cause, sight_is_certain
from faults.vocabulary import Ending, Sight
from suites.cells import Cell, all_cells
from suites.evidence.client import Need, Patience
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
    REUSED = "reused"  # a POST on a connection that has carried one, or that carries one as long as it waits for it
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
    def form(self) -> Form:
        """In which it is asked for."""
        return self.plan.operations[0].form

    @property
    def need(self) -> Need | None:
        """What not every client can."""
        if self.plan.operations[0].expect:
            return Need.EXPECT
        return Need.POOL if way_of(self.plan).max_connections else None

    @property
    def content_bytes(self) -> int:
        """At least how large the request is."""
        return LARGE_BYTES if self.how is How.LARGE else 0

    @property
    def patience(self) -> Patience:
        """Small where the fault is that nothing comes, for the client waits for all of it."""
        sight = self.fault.evidence.sight
        return Patience(
            connect_s=SHORT_S if sight in _UNCONNECTED else LONG_S,
            read_s=SHORT_S if sight in _UNANSWERED else LONG_S,
            pool_s=SHORT_S if self.need is Need.POOL else None,
        )

    @property
    def waits(self) -> bool:
        """A client waits for a time-out of its own, for an answer that takes its time, or for more than will come."""
        act = self.fault.act
        slow = isinstance(act, Answer) and (act.pace is not None or act.delay is not None or act.flaw is not None)
        return slow or self.need is Need.POOL or self.fault.evidence.sight in _UNCONNECTED | _UNANSWERED

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
        if cell.fault.coverage is COSTLY or (cell.reused and _one_way(cell.fault)) or not _is_plain(cell):
            continue
        how = How.REUSED if cell.reused or way_of(cell.plan).max_connections else How.FIRST
        found.setdefault((cell.fault.id, how), Case(fault=cell.fault, how=how, plan=cell.plan))
    firsts = [case for case in found.values() if case.how is How.FIRST and not _one_way(case.fault)]
    more = (case for first in firsts for case in _beside(first))
    return sorted((*found.values(), *more), key=lambda case: list(CATALOGUE).index(case.fault.id))


def _is_plain(cell: Cell) -> bool:
    """One upstream, nobody leaves, and no more of TLS and streams than the fault needs."""
    act = cell.fault.act
    plain = cell.plan.upstreams == 1 and cell.segments == 1 and cell.leaves is None
    return plain and cell.plan.tls is needs_tls(act) and cell.form == (STREAM if needs_stream(act) else COMPLETION)


def _one_way(fault: Fault) -> bool:
    """It needs more of its client than a plain POST."""
    return needs_stream(fault.act) or needs_expectation(fault.act)


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
