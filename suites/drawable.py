"""What plans for one subject on one machine may be drawn from: found out once, and the same for every plan."""

from dataclasses import dataclass
from functools import cached_property

from faults.acts import (
    Act,
    HoldPool,
    Misresolve,
    is_listener_act,
    needs_expectation,
    needs_reused,
    needs_stream,
    needs_tcp,
    needs_tls,
    needs_whole,
)
from faults.catalogue import CATALOGUE, FAMILIES, POISONS, fault_named
from faults.coverage import Depth
from faults.families import Family
from faults.poison import Poison
from faults.truth import speaks_unasked
from faults.vocabulary import Leaving
from suites.reach import Machine, breaks_contract
from suites.subject import SubjectSpec


@dataclass(frozen=True, eq=False)
class Drawable:
    """For whom plans are drawn, and at which depth. toxics: they are drawn too, over the plans and as faults.

    Raises ValueError for toxics on a machine without a Toxiproxy.
    """

    spec: SubjectSpec
    machine: Machine
    depth: Depth = Depth.FULL
    toxics: bool = False

    def __post_init__(self) -> None:
        if self.toxics and not self.machine.toxiproxy:
            raise ValueError(f"toxics drawn on {self.machine!r}; expected one with toxiproxy true")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The faults, and the families of faults, that a plan can be drawn around."""
        exchanges = [
            id_
            for id_ in self._of_exchanges
            if (self.speaks_tls or not needs_tls(act_of(id_))) and (self.streams or not needs_stream(act_of(id_)))
        ]
        return (*exchanges, *self.families, *self.listeners)

    @cached_property
    def families(self) -> dict[str, Family]:
        """Each is as likely as any one fault."""
        return {family.name: family for family in FAMILIES if family.name not in self.spec.reach}

    @cached_property
    def listeners(self) -> tuple[str, ...]:
        """The faults of listeners, whether they strike TLS, plain TCP, or both."""
        return tuple(id_ for id_ in self._reachable if is_listener_act(act_of(id_)) and self._meets(act_of(id_)))

    def _meets(self, act: Act) -> bool:
        spec = self.spec
        return (
            self.machine.lacks_for(act) is None
            and (self.speaks_tls or not needs_tls(act))
            and not (spec.always_tls and needs_tcp(act))
            and (spec.names or not isinstance(act, Misresolve))
            and (spec.pool or not isinstance(act, HoldPool))
            and (spec.passes_expect or not needs_expectation(act))
            and not ("reused" in spec.reach and needs_reused(act))
            and not (isinstance(act, Poison) and act.strikes_dials and not self.machine.packets)
        )

    @cached_property
    def _reachable(self) -> list[str]:
        spec = self.spec
        known = [*CATALOGUE.values(), *(POISONS.values() if self.toxics else ())]
        drawn = [fault.id for fault in known if self.depth.holds(fault.coverage.drawn)]
        return [id_ for id_ in drawn if id_ not in spec.reach and not breaks_contract(id_, spec.facts.contract)]

    @cached_property
    def _of_exchanges(self) -> list[str]:
        return [id_ for id_ in self._reachable if not is_listener_act(act_of(id_))]

    def in_company(self, *, tls: bool, stream: bool) -> list[str]:
        """The faults of exchanges that another operation may be in flight beside. Whoever writes a request at that
        moment could not tell from its answer what is sent unasked.
        """
        return [
            id_
            for id_ in self._of_exchanges
            if (tls or not needs_tls(act_of(id_)))
            and not speaks_unasked(act_of(id_))
            and not (needs_whole(act_of(id_)) if stream else needs_stream(act_of(id_)))
        ]

    @cached_property
    def speaks_tls(self) -> bool:
        """Plans may ask for TLS."""
        return self.spec.tls and "tls" not in self.spec.reach

    @cached_property
    def streams(self) -> bool:
        """Operations may ask for streams."""
        return "streaming" not in self.spec.reach

    @cached_property
    def segments(self) -> bool:
        """Requests may come in several segments."""
        return not self.spec.facts.called and "segments" not in self.spec.reach

    @cached_property
    def ways_to_leave(self) -> list[Leaving | None]:
        """Most callers stay."""
        if "leaves" in self.spec.reach:
            return [None]
        ways = [way for way in Leaving if not (self.spec.facts.called and way is Leaving.HALF_CLOSE)]
        return [None] * 9 + ways


def act_of(id_: str) -> Act:
    """What that fault does."""
    return fault_named(id_).act
