"""What is observed: each fault on a first connection, on a reused one where it strikes an exchange, and with a GET
where it strikes one connection.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from faults.catalogue import CATALOGUE
from faults.fault import Fault
from faults.plan import Plan, PlanError
from faults.truth import shows_its_cause
from faults.vocabulary import Sight
from suites.cells import all_cells
from suites.evidence.client import Patience

SHORT_S = 0.2  # where the fault is that nothing comes
LONG_S = 5.0  # where something comes: a busy machine is no fault
_RACE = "the reset may meet the client before, while or after it writes its request: the router cannot choose"


class How(StrEnum):
    """What is sent, on which connection."""

    FIRST = "first"  # a POST on a first connection
    REUSED = "reused"  # a POST on a connection that has carried one
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
    def patience(self) -> Patience:
        """Small where the fault is that nothing comes, for the client waits for all of it."""
        sight = self.fault.evidence.sight
        return Patience(
            connect_s=SHORT_S if sight is Sight.CONNECT_TIMEOUT else LONG_S,
            read_s=SHORT_S if sight is Sight.SILENCE else LONG_S,
        )

    @property
    def race(self) -> str:
        """Why what is seen of it may vary; empty where it may not."""
        return "" if shows_its_cause(self.fault.act) else _RACE


def all_cases() -> list[Case]:
    """Of the whole catalogue, in its order, over plain TCP. The plans are those of the cells."""
    found: dict[tuple[str, How], Case] = {}
    for cell in all_cells():
        how = How.REUSED if cell.reused else How.FIRST
        if cell.plan.upstreams == 1 and cell.segments == 1 and not cell.plan.tls:
            found.setdefault((cell.fault.id, how), Case(fault=cell.fault, how=how, plan=cell.plan))
    gets = (get for case in found.values() for get in _with_get(case))
    return sorted((*found.values(), *gets), key=lambda case: list(CATALOGUE).index(case.fault.id))


def _with_get(case: Case) -> Iterator[Case]:
    """A GET carries no operation, so only a listener's fault can strike it; the next connection is healthy."""
    listeners = case.plan.listeners
    if listeners and case.how is How.FIRST:
        try:
            once = tuple(replace(listener, connections=1) for listener in listeners)
        except PlanError:
            return  # it strikes before there is a connection to count
        yield replace(case, how=How.GET, plan=replace(case.plan, listeners=once))
