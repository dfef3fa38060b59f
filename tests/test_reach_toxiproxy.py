"""What Toxiproxy makes unreachable is not run, with the reason; what it does not touch is."""

import pytest

from faults.catalogue import CATALOGUE
from faults.handshake import DemandCertificate, TlsVersion
from faults.plan import LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.toxics import Direction, Latency
from faults.under import Hop, Overlay
from faults.vocabulary import Leaving
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.subject import SubjectSpec

BESIDE, WITHOUT = Machine(packets=True, toxiproxy=True), Machine(packets=True)
HTTP, LIBRARY = (
    SubjectSpec(tls=True, facts=SubjectFacts(name="any", promises=Promise.TRANSPARENT, called=in_process))
    for in_process in (False, True)
)


def _under(hop: Hop, latency_ms: int = 20, leaves: Leaving | None = None) -> Plan:
    gate = None if leaves is None else f"{LEFT_GATE}0"
    overlay = Overlay(toxic=Latency(latency_ms=latency_ms), hop=hop)
    return Plan(operations=(PlannedOperation(leaves=leaves, gate=gate),), under=(overlay,))


@pytest.mark.parametrize("hop", Hop)
def test_a_toxic_on_either_hop_needs_a_toxiproxy(hop: Hop) -> None:
    """Only on the way to its routers does the subject see them through it."""
    plan = _under(hop)
    assert "needs Toxiproxy" in (unreachable(plan, HTTP, WITHOUT) or "")
    assert unreachable(plan, HTTP, BESIDE) is None
    assert plan.toxiproxy is (hop is Hop.ROUTER)


def test_who_is_called_in_process_has_no_hop_before_it() -> None:
    """There is no connection."""
    assert "no connection" in (unreachable(_under(Hop.CALLER), LIBRARY, BESIDE) or "")
    assert unreachable(_under(Hop.ROUTER), LIBRARY, BESIDE) is None


@pytest.mark.parametrize(
    ("leaves", "why"), [(Leaving.HALF_CLOSE, "half-close"), (Leaving.RESET, "reset"), (Leaving.FIN, "")]
)
def test_who_leaves_through_toxiproxy_leaves_by_closing(leaves: Leaving, why: str) -> None:
    """It ends both ways of a connection of which one has ended, and knows no reset."""
    reason = unreachable(_under(Hop.CALLER, leaves=leaves), HTTP, BESIDE)
    assert (reason is None) if not why else (reason is not None and why in reason)
    assert unreachable(_under(Hop.ROUTER, leaves=leaves), HTTP, BESIDE) is None


@pytest.mark.parametrize(("hop", "why"), [(Hop.ROUTER, "read timeout"), (Hop.CALLER, "to meet")])
def test_what_comes_later_than_anybody_waits_is_not_run(hop: Hop, why: str) -> None:
    """Its own time-outs would be the fault."""
    assert unreachable(_under(hop, 224), HTTP, BESIDE) is None
    assert why in (unreachable(_under(hop, 225), HTTP, BESIDE) or "")


def test_an_older_handshake_takes_twice_as_long() -> None:
    """TLS 1.2 asks and answers twice before the request."""
    demanding = {
        fault.act.version: fault.id for fault in CATALOGUE.values() if isinstance(fault.act, DemandCertificate)
    }
    under = tuple(Overlay(toxic=Latency(direction=direction, latency_ms=60)) for direction in Direction)
    reasons = {
        version: unreachable(
            Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=id_),), tls=True, under=under),
            HTTP,
            BESIDE,
        )
        for version, id_ in demanding.items()
    }
    assert "a handshake takes up to 240 ms more" in (reasons[TlsVersion.TLS_1_2] or "")
    assert reasons[TlsVersion.TLS_1_3] is None
