"""What cannot be reached with a Toxiproxy on a hop: behind it, from where the subject sees its routers; before it, from
where its callers see the subject.
"""

from faults.acts import DropSyn
from faults.answer import NEAR, Answer
from faults.catalogue import fault_named
from faults.contents import HUGE_BYTES
from faults.handshake import DemandCertificate, TlsVersion
from faults.plan import Plan
from faults.poison import Poison
from faults.truth import speaks_unasked
from faults.under import Hop, over, slower_ms
from faults.vocabulary import Content, Leaving
from suites.subject import SubjectSpec

_ENDS_BOTH = "Toxiproxy ends both sides of a connection when its caller has ended one: nobody can half-close through it"
_NO_RESET = "Toxiproxy passes a reset on as an end: no caller can reset its connection to the subject through it"


def lacks_behind_toxiproxy(plan: Plan, spec: SubjectSpec, *, packets: bool) -> str | None:
    """Why a subject cannot meet this plan behind Toxiproxy; None if it can, or is not behind it. packets: we can
    watch them.
    """
    if not plan.toxiproxy:
        return None
    acts = [fault_named(fault).act for fault in plan.faults]
    late_ms = slower_ms(plan.under, _body_bytes(plan))
    if late_ms >= NEAR * spec.read_timeout_ms:
        return f"answers come up to {late_ms:.0f} ms later, and the read timeout is {spec.read_timeout_ms} ms"
    if (huge := _too_large(plan, spec, Hop.ROUTER)) is not None:
        return huge
    # TLS 1.2 asks and answers twice before the request (RFC 5246 s7.3), TLS 1.3 once (RFC 8446 s2).
    twice = any(isinstance(act, DemandCertificate) and act.version is TlsVersion.TLS_1_2 for act in acts)
    greeting_ms = late_ms * (2 if twice else 1)
    if plan.tls and greeting_ms >= NEAR * spec.connect_timeout_ms:
        patience_ms = spec.connect_timeout_ms
        return f"a handshake takes up to {greeting_ms:.0f} ms more, and the connect timeout is {patience_ms} ms"
    if any(isinstance(act, DropSyn) for act in acts):
        return "Toxiproxy goes on dialling when its client has given up: what comes of it, comes after the run"
    if over(plan.under, Hop.ROUTER) and any(speaks_unasked(act) for act in acts) and len(plan.operations) > 1:
        return "what comes unasked may come when the next request was written: it looks like its answer then"
    if not packets and any(isinstance(act, Poison) and act.strikes_dials for act in acts):
        return "that nobody listens is seen only by a packet socket: needs CAP_NET_RAW"
    return None


def lacks_before_toxiproxy(plan: Plan, spec: SubjectSpec) -> str | None:
    """Why its callers cannot meet this plan on the other side of a Toxiproxy; None if they can, or there is none."""
    if not over(plan.under, Hop.CALLER):
        return None
    if spec.facts.called:
        return "called in its caller's process: there is no connection from the caller to lay a toxic over"
    for operation in plan.operations:
        if operation.leaves is Leaving.HALF_CLOSE:
            return _ENDS_BOTH
        if operation.leaves is Leaving.RESET:
            return _NO_RESET
    if (huge := _too_large(plan, spec, Hop.CALLER)) is not None:
        return huge
    late_ms = slower_ms(plan.under, _body_bytes(plan), Hop.CALLER)
    if late_ms >= NEAR * spec.read_timeout_ms:
        patience_ms = spec.read_timeout_ms
        return f"a call takes up to {late_ms:.0f} ms more; those in flight together have {patience_ms} ms to meet"
    return None


def _too_large(plan: Plan, spec: SubjectSpec, hop: Hop) -> str | None:
    """Its bytes go on coming, so that no time-out between two of them is met; but the run has an end."""
    acts = [fault_named(fault).act for fault in plan.faults]
    if not any(isinstance(act, Answer) and act.content is Content.HUGE for act in acts):
        return None
    lasts_ms = slower_ms(plan.under, 0, hop, reply_bytes=HUGE_BYTES)
    if lasts_ms < spec.ceiling_ms / 2:
        return None
    return f"its reply takes up to {lasts_ms / 1000:.0f} s, and a call is given up after {spec.ceiling_ms / 1000:.0f} s"


def _body_bytes(plan: Plan) -> int:
    return max(operation.body_bytes for operation in plan.operations)
