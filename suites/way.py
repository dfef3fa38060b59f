"""The way from a subject to its routers: what a plan asks of it, and where it leads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from faults.acts import HoldPool, Misresolve
from faults.catalogue import fault_named
from faults.disturbance import Disturb, Whose
from faults.plan import Plan
from faults.under import Hop, Overlay, over

Address = tuple[str, int]  # host, port


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What is settled when an instance is started: runs that ask for different ways cannot share one.

    tls: its upstreams speak TLS, with a certificate of IDENTITY's CA. names: it knows them by names, which a name
    server of ours resolves. max_connections: how many connections to its routers its pool may have (0: no limit).
    toxiproxy: it leads through Toxiproxy, with `under` laid over it. under_caller: laid over the way from its callers.
    relayed: each of its upstreams is in a container of its own, by a relay.
    """

    tls: bool = False
    names: bool = False
    max_connections: int = 0
    toxiproxy: bool = False
    under: tuple[Overlay, ...] = ()
    under_caller: tuple[Overlay, ...] = ()
    relayed: bool = False


PLAIN = Way()


def way_of(plan: Plan) -> Way:
    """What that plan asks for."""
    acts = [fault_named(listener.fault).act for listener in plan.listeners]
    return Way(
        tls=plan.tls,
        names=any(isinstance(act, Misresolve) for act in acts),
        toxiproxy=plan.toxiproxy,
        under=over(plan.under, Hop.ROUTER),
        under_caller=over(plan.under, Hop.CALLER),
        max_connections=1 if any(isinstance(act, HoldPool) for act in acts) else 0,
        relayed=any(isinstance(act, Disturb) and act.whose is Whose.WORKER for act in acts),
    )


class Upstreams(tuple[Address, ...]):
    """Where an instance forwards to. A subject is started only on a way that its spec says it can go.

    name_server: who resolves the hosts, where they are names.
    """

    way: Way
    name_server: Address | None

    def __new__(cls, addresses: Iterable[Address], *, way: Way = PLAIN, name_server: Address | None = None) -> Self:
        """These addresses, with what is known of the way to them."""
        made = super().__new__(cls, addresses)
        made.way = way
        made.name_server = name_server
        return made

    @classmethod
    def of(cls, addresses: Sequence[Address]) -> "Upstreams":
        """The same; plain addresses are reached the plain way."""
        return addresses if isinstance(addresses, Upstreams) else cls(addresses)
