"""What cannot be reached is not run, with the reason; and what is drawn can be reached."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_router.identity import IDENTITY, Identity
from faults.coverage import Depth
from faults.evidence import NO_CONTRACT, REFERENCE_CONTRACT, Contract, Marker
from faults.handshake import Flaw, ShowCertificate
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.cells import all_cells
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.strategies import plans
from suites.subject import Address, SubjectSpec

PACKETS, BLIND = Machine(packets=True), Machine(packets=False)


# It covers the body of every plain 503, also of one that came after the work.
WIDE = Contract(not_accepted=(Marker(status=503, body="upstream failure"),))


def _spec(
    *,
    upstreams: int = 2,
    in_process: bool = False,
    reach: dict[str, str] | None = None,
    contract: Contract = NO_CONTRACT,
    tls: bool = True,
    always_tls: bool = False,
    passes_expect: bool = False,
    listen: tuple[Address, ...] = (),
) -> SubjectSpec:
    facts = SubjectFacts(name="any", promises=Promise.TRANSPARENT, called=in_process, contract=contract)
    identity = IDENTITY if always_tls else None
    reach = reach or {}
    return SubjectSpec(
        facts=facts,
        upstreams=upstreams,
        reach=reach,
        tls=tls,
        identity=identity,
        passes_expect=passes_expect,
        listen=listen,
    )


def _beside(fault: str, *faults: str) -> Plan:
    return Plan(
        upstreams=2,
        operations=(PlannedOperation(faults=faults),),
        listeners=(PlannedListener(fault=fault, upstream=0),),
    )


def _failing(*faults: str) -> Plan:
    return Plan(operations=(PlannedOperation(faults=faults),))


@pytest.mark.parametrize(
    ("plan", "spec", "machine", "reason"),
    [
        (_beside("syn-dropped"), _spec(upstreams=1), PACKETS, "needs 2 upstreams"),
        (
            Plan(operations=(PlannedOperation(segments=2),)),
            _spec(in_process=True),
            PACKETS,
            "called in its caller's process",
        ),
        (Plan(operations=(PlannedOperation(reused=True),)), _spec(reach={"reused": "no pool"}), PACKETS, "no pool"),
        (Plan(operations=(PlannedOperation(segments=2),)), _spec(reach={"segments": "joins"}), PACKETS, "joins"),
        (Plan(operations=(PlannedOperation(faults=("500-after",)),)), _spec(reach={"500-after": "x"}), PACKETS, "x"),
        (_beside("connect-refused"), _spec(), BLIND, "beside a healthy upstream"),
        (_beside("syn-dropped", "500-after"), _spec(), BLIND, "before or after an exchange"),
        (_beside("syn-dropped"), _spec(), BLIND, None),
        (_beside("unread-reset", "500-after"), _spec(), BLIND, None),
        (_beside("connect-refused", "500-after"), _spec(), PACKETS, None),
        (_failing("503-after"), _spec(contract=WIDE), PACKETS, "a router that breaks its own contract"),
        (_failing("503-before", "503-after"), _spec(contract=WIDE), PACKETS, "breaks its own contract"),
        (_failing("503-before"), _spec(contract=WIDE), PACKETS, None),
        (_failing("503-after"), _spec(), PACKETS, None),
        (Plan(tls=True, operations=(PlannedOperation(),)), _spec(), PACKETS, None),
        (Plan(tls=True, operations=(PlannedOperation(),)), _spec(tls=False), PACKETS, "an upstream that speaks TLS"),
        (Plan(tls=True, operations=(PlannedOperation(),)), _spec(reach={"tls": "no CA"}), PACKETS, "no CA"),
        (Plan(tls=True, operations=(PlannedOperation(),)), _spec(always_tls=True), PACKETS, None),
        (Plan(operations=(PlannedOperation(),)), _spec(always_tls=True), PACKETS, "strikes plain TCP alone"),
        (_beside("name-unknown"), _spec(reach={"names": "none"}), PACKETS, "none"),
        (_beside("name-unknown"), _spec(listen=(("h", 1),)), PACKETS, "nobody can tell it of a name server of ours"),
        (Plan(tls=True, operations=(PlannedOperation(),)), _spec(listen=(("h", 1),), tls=False), PACKETS, "https://"),
        (_failing("503-after"), _spec(contract=REFERENCE_CONTRACT), PACKETS, None),
        (
            Plan(operations=(PlannedOperation(segments=0),)),
            _spec(in_process=True),
            PACKETS,
            "called in its caller's process",
        ),
        (
            Plan(operations=(PlannedOperation(body_bytes=9),)),
            _spec(reach={"body_bytes": "a limit"}),
            PACKETS,
            "a limit",
        ),
        (Plan(operations=(PlannedOperation(expect=True),)), _spec(), PACKETS, "passes_expect"),
        (Plan(operations=(PlannedOperation(expect=True),)), _spec(passes_expect=True), PACKETS, None),
    ],
)
def test_a_reason_is_given_exactly_where_a_plan_cannot_be_reached(
    plan: Plan, spec: SubjectSpec, machine: Machine, reason: str | None
) -> None:
    """By the subject, by how it is called, or by what this machine lets us see."""
    found = unreachable(plan, spec, machine)
    assert (found is None) if reason is None else (found is not None and reason in found)


@given(
    st.data(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(False, False), (True, False), (True, True)]),
    st.integers(1, 3),
    st.sampled_from([NO_CONTRACT, WIDE]),
    st.booleans(),
)
def test_every_drawn_plan_can_be_reached(
    data: st.DataObject,
    packets: bool,
    in_process: bool,
    tls: tuple[bool, bool],
    upstreams: int,
    contract: Contract,
    toxics: bool,
) -> None:
    """Nothing is drawn only to be left out."""
    reach = {"silence-after": "no"}
    can, always = tls
    spec = _spec(upstreams=upstreams, in_process=in_process, reach=reach, contract=contract, tls=can, always_tls=always)
    machine = Machine(packets=packets, toxiproxy=toxics)
    assert unreachable(data.draw(plans(spec, machine, toxics=toxics)), spec, machine) is None


def test_a_certificate_of_somebody_elses_ca_has_no_flawed_brother() -> None:
    """Only one from an unknown CA can be shown in its place; all else over TLS is reached."""
    spec = replace(_spec(tls=True), identity=Identity(certificate=Path("cert.pem")))
    lost = {
        act.flaw
        for cell in all_cells(Depth.FULL)
        if isinstance(act := cell.fault.act, ShowCertificate) and unreachable(cell.plan, spec, PACKETS)
    }
    assert lost == set(Flaw) - {Flaw.UNKNOWN_CA}
    assert unreachable(Plan(tls=True, operations=(PlannedOperation(),)), spec, PACKETS) is None


def test_without_packets_and_filters_few_cells_are_out_of_reach() -> None:
    """Refusals beside a healthy upstream, and what a packet filter does."""
    lost = [cell.id for cell in all_cells() if unreachable(cell.plan, _spec(passes_expect=True), BLIND)]
    assert [id_ for id_ in lost if not id_.startswith(("pool/", "resolve/"))] == [
        "connect/connect-refused/first-of-two",
        "connect/connect-refused/first-of-two/2MB",
        "connect/connect-refused/first-of-two/tls",
        "connect/host-unreachable/every-upstream",
        "connect/host-unreachable/first-of-two",
        "connect/host-unreachable/first-of-two/tls",
    ]
