"""What a subject or a machine cannot reach: such a run is never made, listed with its reason, and not judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fake_router.identity import Identity
from fake_router.kernel import can_watch_packets
from fake_router.own_network import can_filter_packets, is_entered
from faults.acts import Act, DialAct, HoldPool, Misresolve, Refuse, Unreachable
from faults.catalogue import fault_named, filed_under
from faults.disturbance import Disturb
from faults.evidence import Contract
from faults.handshake import ShowCertificate
from faults.plan import Plan
from faults.vocabulary import Class, Leaving
from suites.reach_toxiproxy import lacks_before_toxiproxy, lacks_behind_toxiproxy
from suites.stacks.shaping import lacking
from suites.subject import SubjectSpec
from suites.way import way_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What this machine lets the instrument see and do. packets: a packet socket on loopback (CAP_NET_RAW). filters:
    packet filters, in a network of our own. toxiproxy: a Toxiproxy between the hops. no_queueing: why what containers
    send is not shaped in these ways.
    """

    packets: bool
    filters: bool = False
    toxiproxy: bool = False
    no_queueing: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def here(*, toxiproxy: bool = False) -> "Machine":
        """The machine that we run on, as this user, with a Toxiproxy or without."""
        return Machine(
            packets=can_watch_packets(),
            filters=can_filter_packets(),
            toxiproxy=toxiproxy,
            no_queueing=lacking() if is_entered() else {},  # elsewhere no container has a network of its own
        )

    def lacks_for(self, act: Act) -> str | None:
        """Why this act cannot be done here; None if it can."""
        if isinstance(act, Unreachable) and not self.filters:
            return "a host is made unreachable by a packet filter: needs --own-network, and iptables"
        if isinstance(act, Disturb) and act.how.queueing is not None:
            return self.no_queueing.get(act.how.queueing)
        return None


def unreachable(plan: Plan, spec: SubjectSpec, machine: Machine) -> str | None:
    """Why this plan cannot be run on this subject on this machine; None if it can."""
    if plan.upstreams > spec.upstreams:
        return f"needs {plan.upstreams} upstreams; {spec.facts.name} stands in front of {spec.upstreams}"
    if spec.facts.called and any(operation.segments != 1 for operation in plan.operations):
        return "called in its caller's process: there is no request on a wire from the caller to split"
    if spec.facts.called and any(operation.leaves is Leaving.HALF_CLOSE for operation in plan.operations):
        return "called in its caller's process: there is no connection from the caller to half-close"
    for api in {operation.form.api for operation in plan.operations} - set(spec.apis):
        return f"asks for {api.path}; {spec.facts.name} speaks {' and '.join(known.path for known in spec.apis)} alone"
    for name in _named(plan):
        if name in spec.reach:
            return spec.reach[name]
    if spec.standing and _named(plan) & {"names", "pool"}:
        return f"{spec.facts.name} runs already: nobody can tell it of a name server of ours, or of another pool"
    if not spec.pool and "pool" in _named(plan):
        return "nothing says how many connections its pool may have (a subject file does by {max_connections})"
    if not spec.names and "names" in _named(plan):
        return "nothing says how it asks a name server of ours (a subject file does by {name_server})"
    if not spec.passes_expect and any(operation.expect for operation in plan.operations):
        return f"{spec.facts.name} does not say that it passes an Expect on (`passes_expect`: true)"
    if plan.tls is not spec.tls and (lacks := _lacks_way(plan, spec)):
        return lacks
    if spec.identity is not None and any(_unshowable(fault, spec.identity) for fault in plan.faults):
        return "needs another certificate under a CA whose key is here (`listen_ca`, in place of `listen_cert`)"
    if any(breaks_contract(fault, spec.facts.contract) for fault in plan.faults):
        return "a router that breaks its own contract: it would run what it says it did not accept"
    if plan.needs_toxiproxy and not machine.toxiproxy:
        return "needs Toxiproxy on its hops (see `retryproof toxiproxy`)"
    if reason := lacks_behind_toxiproxy(plan, spec, packets=machine.packets) or lacks_before_toxiproxy(plan, spec):
        return reason
    if (lacks := _lacks_container(plan, spec)) is not None:
        return lacks
    for fault in plan.faults:
        if lacks := machine.lacks_for(fault_named(fault).act):
            return lacks
    return None if machine.packets else _unseen(plan, spec)


def _lacks_container(plan: Plan, spec: SubjectSpec) -> str | None:
    """Why nothing can be done to a container on its way to the routers; None where nothing has to be."""
    acts = [act for fault in plan.faults if isinstance(act := fault_named(fault).act, Disturb)]
    if acts and not spec.container:
        return f"no container stands between {spec.facts.name} and its routers (`retryproof.role: router` in a stack)"
    if any(act.needs_network for act in acts) and not spec.network:
        return "its containers are on the host's network: there is none of their own to be taken off"
    if any(act.how.needs_limits for act in acts) and not spec.limits:
        return "its engine changes no limit of a container that runs"
    return None


def _lacks_way(plan: Plan, spec: SubjectSpec) -> str | None:
    """Why it cannot go over TLS, or without."""
    if not plan.tls:
        return f"strikes plain TCP alone; {spec.facts.name} speaks TLS to its router" if spec.always_tls else None
    if spec.standing:
        return f"{spec.facts.name} speaks no TLS to its router (else `listen` says so: https://HOST:PORT)"
    return "nothing says how it reaches an upstream that speaks TLS (a subject file does by {scheme} and {ca})"


def _unshowable(fault: str, identity: Identity) -> bool:
    act = fault_named(fault).act
    return isinstance(act, ShowCertificate) and not identity.can_show(act.flaw)


def breaks_contract(fault: str, contract: Contract) -> bool:
    """The work was done, and the answer is one that this contract publishes as proof of the opposite. A forwarder
    that believes its router is not to blame for what comes of it.
    """
    known = fault_named(fault)
    return known.truth.executed and known.class_under(contract) is Class.SAFE


def _unseen(plan: Plan, spec: SubjectSpec) -> str | None:
    """Why this plan cannot be judged where no packets can be watched."""
    faults = any(operation.faults for operation in plan.operations)
    for listener in plan.listeners:
        act = fault_named(listener.fault).act
        beside_healthy = listener.upstream is not None and spec.upstreams > 1
        if isinstance(act, Refuse) and beside_healthy:
            return "a refused connect beside a healthy upstream is seen only by a packet socket: needs CAP_NET_RAW"
        if isinstance(act, DialAct) and not isinstance(act, HoldPool | Misresolve) and faults:
            return "whether a dial came before or after an exchange is seen only by a packet socket: needs CAP_NET_RAW"
    return None


def _named(plan: Plan) -> set[str]:
    """The fault ids and dimensions of a plan, as the [reach] table of a subject names them."""
    names = {*plan.faults, *map(filed_under, plan.faults)}
    if any(operation.reused for operation in plan.operations):
        names.add("reused")
    if any(operation.segments != 1 for operation in plan.operations):
        names.add("segments")
    if plan.tls:
        names.add("tls")
    if any(operation.body_bytes for operation in plan.operations):
        names.add("body_bytes")
    if any(operation.leaves for operation in plan.operations):
        names.add("leaves")
    if any(operation.stream for operation in plan.operations):
        names.add("streaming")
    if way_of(plan).names:
        names.add("names")
    if way_of(plan).max_connections:
        names.add("pool")
    return names
