"""Toxics that are faults, and faults seen from behind Toxiproxy: what must hold of the data, whatever it is."""

import pytest

from faults.catalogue import CATALOGUE, POISONS, fault_named
from faults.fault import Fault
from faults.picture import drawn
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from faults.plan_json import load_plan, plan_from_json, plan_to_json
from faults.poison import Moment, Poison, Poisoning
from faults.toxics import Bandwidth, Direction, Down, Latency, LimitData, ResetPeer, Slicer, SlowClose, Timeout
from faults.under import REPLY_BYTES, SLICE_US, Hop, Overlay, behind, slower_ms
from faults.vocabulary import Class, Ending, Phase, Sight

POISONED = pytest.mark.parametrize("fault", POISONS.values(), ids=POISONS)
ALL = pytest.mark.parametrize("fault", CATALOGUE.values(), ids=CATALOGUE)


@POISONED
def test_an_ambiguous_poison_has_a_twin_with_the_opposite_truth(fault: Fault) -> None:
    """The request is lost, or the reply is; a forwarder cannot tell which."""
    if fault.twin is None:
        assert fault.no_twin
        return
    twin = fault_named(fault.twin)
    assert fault.evidence == twin.evidence
    assert fault.truth.executed is not twin.truth.executed
    assert fault.class_under() is Class.AMBIGUOUS


@POISONED
def test_only_what_lets_nobody_connect_is_safe(fault: Fault) -> None:
    """Whatever Toxiproxy does to a connection that was made proves nothing, or that the work has run."""
    assert isinstance(fault.act, Poison)
    assert (fault.class_under() is Class.SAFE) is fault.act.strikes_dials


@POISONED
def test_a_poison_is_drawn_and_is_filed_under_its_own_id(fault: Fault) -> None:
    """And it is no fault of the catalogue: a machine need not have Toxiproxy."""
    assert POISONS[fault.id] is fault
    assert fault.id not in CATALOGUE
    assert drawn(fault.act)[-1] == f"the forwarder has: {fault.evidence.sight}"


def test_every_toxic_that_loses_something_strikes_at_each_of_its_moments() -> None:
    """No combination that Toxiproxy can do is left out."""
    acts = [fault.act for fault in POISONS.values() if isinstance(fault.act, Poison)]
    for toxic in Poisoning:
        for direction in (None, *Direction):
            for at in Moment:
                try:
                    Poison(toxic=toxic, direction=direction, at=at, after=0.2 if toxic in _TIMED else None)
                except ValueError:
                    continue
                assert any((act.toxic, act.direction, act.at) == (toxic, direction, at) for act in acts)


_TIMED = (Poisoning.TIMEOUT, Poisoning.SLOW_CLOSE)


@pytest.mark.parametrize(
    ("poison", "toxic"),
    [
        ("reset_peer-request", ResetPeer(direction=Direction.UPSTREAM)),
        ("timeout-reply", Timeout(direction=Direction.DOWNSTREAM, timeout_ms=0)),
        ("timeout-closed-reply", Timeout(direction=Direction.DOWNSTREAM, timeout_ms=60)),
        ("limit_data-request", LimitData(direction=Direction.UPSTREAM, limit_bytes=20)),
        ("slow_close-body", SlowClose(direction=Direction.DOWNSTREAM, delay_ms=600)),
        ("down-body", Down()),
    ],
)
def test_toxiproxy_is_told_in_milliseconds_of_the_subject_s_time_out(poison: str, toxic: object) -> None:
    """With a read timeout of 300 ms."""
    act = POISONS[poison].act
    assert isinstance(act, Poison)
    assert act.in_toxiproxy(300) == toxic


@ALL
@pytest.mark.parametrize("tls", [False, True])
def test_behind_toxiproxy_nothing_becomes_safer(fault: Fault, tls: bool) -> None:
    """It hides a refused connect and a reset; it adds no proof. The truth is the router's, and stays."""
    seen = behind(fault, tls=tls, slower=0.1)
    assert seen.truth == fault.truth
    if fault.class_under() is not Class.SAFE:
        assert seen.class_under() is not Class.SAFE
    if not tls and fault.phase is Phase.CONNECT:
        assert seen.evidence.sight not in (Sight.REFUSED, Sight.UNREACHABLE, Sight.CONNECT_TIMEOUT)


@ALL
def test_behind_toxiproxy_no_reset_is_certain(fault: Fault) -> None:
    """It passes the router's RST on as EOF; what may have been seen before that only tells."""
    seen = behind(fault, tls=False, slower=0.0)
    act = seen.seen or seen.act
    assert not (seen.shows_its_cause and getattr(act, "ending", None) is Ending.RESET)


def test_a_connect_that_toxiproxy_hides_is_no_proof_any_more() -> None:
    """But a TLS handshake that fails for it still is: no byte of the request can have been sent."""
    refused = CATALOGUE["connect-refused"]
    assert behind(refused, tls=False, slower=0.0).class_under() is Class.AMBIGUOUS
    assert not behind(refused, tls=False, slower=0.0).shows_its_cause  # no byte may be written yet
    assert behind(refused, tls=True, slower=0.0).class_under() is Class.SAFE


def test_what_comes_later_makes_only_what_takes_time_less_certain() -> None:
    """A reply at once is seen at once however slow the way is."""
    assert behind(CATALOGUE["500-after"], tls=False, slower=0.5).sight_is_certain
    for late in (fault for fault in CATALOGUE.values() if 0 < getattr(fault.act, "lasts", 0) < 1):
        assert not behind(late, tls=False, slower=0.74).sight_is_certain
    assert behind(CATALOGUE["stream-spaced"], tls=False, slower=0.4).sight_is_certain
    assert not behind(CATALOGUE["stream-spaced"], tls=False, slower=0.5).sight_is_certain


def test_overlays_add_up_over_the_hop_to_the_router() -> None:
    """What the caller waits for is nothing that the forwarder sees."""
    latency = Overlay(toxic=Latency(latency_ms=20, jitter_ms=5))
    slow = Overlay(toxic=Bandwidth(direction=Direction.UPSTREAM, rate_kbytes_s=100))
    sliced = Overlay(toxic=Slicer(average_bytes=1024, delay_us=1000))
    elsewhere = Overlay(toxic=Latency(latency_ms=500), hop=Hop.CALLER)
    assert slower_ms((latency,), 0) == 25
    assert slower_ms((slow,), 60_000) == pytest.approx((4096 + 60_000) / 100)
    assert slower_ms((sliced,), 60_000) == pytest.approx(4 * 1.26)
    assert slower_ms((latency, elsewhere), 0) == 25


@pytest.mark.parametrize(("delay_us", "lasts_us"), [(0, 0), (1, 1_250), (1_000, 1_250), (1_001, 2_250)])
def test_a_pause_between_pieces_lasts_whole_milliseconds(delay_us: int, lasts_us: int) -> None:
    """Toxiproxy cannot sleep for less, and a reply of some pieces comes as much later."""
    sliced = Overlay(toxic=Slicer(average_bytes=64, delay_us=delay_us))
    assert slower_ms((sliced,), 0) == pytest.approx(REPLY_BYTES / 64 * (lasts_us + SLICE_US) / 1_000)


def test_a_plan_under_toxics_is_read_as_it_was_written() -> None:
    """Every value that is not its default, and every default."""
    under = (
        Overlay(toxic=Latency(latency_ms=20, jitter_ms=5)),
        Overlay(toxic=Slicer(direction=Direction.UPSTREAM, average_bytes=7, delay_us=3), hop=Hop.CALLER),
        Overlay(toxic=Bandwidth(rate_kbytes_s=1000)),
    )
    plan = Plan(operations=(PlannedOperation(faults=("500-after",)),), under=under)
    assert plan_from_json(plan_to_json(plan)) == plan
    assert plan.toxiproxy


@pytest.mark.parametrize(
    ("under", "says"),
    [
        ([{"toxic": "lag"}], "toxic is 'lag'; expected one of latency, bandwidth, slicer"),
        ([{"toxic": "latency"}], "latency with no value; expected latency_ms"),
        ([{"toxic": "latency", "latency_ms": -1}], "latency_ms is -1"),
        ([{"toxic": "latency", "latency_ms": "20"}], "latency_ms is '20'"),
        ([{"toxic": "latency", "latency_ms": 1, "rate": 2}], "has the value 'rate'"),
        ([{"toxic": "latency", "latency_ms": 1, "direction": "sideways"}], "direction is 'sideways'"),
        ([{"toxic": "latency", "latency_ms": 1, "hop": "moon"}], "hop is 'moon'; expected router or caller"),
        (["latency"], "'latency' is no toxic"),
        ({"toxic": "latency"}, "expected a list of toxics"),
    ],
)
def test_what_is_no_toxic_is_refused_by_its_place(under: object, says: str) -> None:
    """With the value, and what was expected."""
    with pytest.raises(PlanError, match="under") as refused:
        plan_from_json({"schema": 1, "operations": [{}], "under": under})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ('{"schema": 1, "operations": [{}], "listeners": [{"fault": "timeout-request-idle"}]}', "expected reused true"),
        (
            '{"schema": 1, "operations": [{"reused": true}], "listeners": [{"fault": "reset_peer-request"}]}',
            "expected reused false",
        ),
        (
            '{"schema": 1, "operations": [{"faults": ["500-after"]}], "listeners": [{"fault": "down-body"}]}',
            "expected no further fault",
        ),
        ('{"schema": 1, "operations": [{}], "tls": true, "listeners": [{"fault": "down-body"}]}', "expected tls false"),
        ('{"schema": 1, "operations": [{"faults": ["down-body"]}]}', "put it under `listeners`"),
    ],
)
def test_a_poison_where_it_cannot_strike_is_refused(plan: str, says: str) -> None:
    """A plan that would prove nothing is none."""
    with pytest.raises(PlanError, match=says):
        load_plan(plan)


def test_one_poison_on_one_upstream_needs_toxiproxy() -> None:
    """So does nothing else of the catalogue."""
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="down-connect", upstream=0),))
    assert plan.toxiproxy
    assert not Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="connect-refused"),)).toxiproxy
