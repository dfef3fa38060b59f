"""Properties of any forwarder behind a real Toxiproxy: toxics are drawn together with faults, and set themselves."""

from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.acts import LeaveUnread, is_listener_act
from faults.answer import Answer
from faults.catalogue import CATALOGUE, POISONS
from faults.fault import Fault
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Moment, Poison
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Overlay
from faults.vocabulary import Content, Ending, Phase, Sight
from suites.bench import Bench

MAX_LATENCY_MS = 40
FEWEST = 5  # examples of each property; each meets a read timeout, or nearly

_Toxics = st.SearchStrategy[tuple[Overlay, ...]]


def _settings(bench: Bench) -> settings:
    """A third of the examples: each of these is lived through by a process more than the others are."""
    return settings(
        max_examples=max(FEWEST, bench.examples // 3),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


@st.composite
def _latencies(draw: st.DrawFn) -> Overlay:
    """Small: what decides the order is the router's gates."""
    latency_ms = draw(st.integers(5, MAX_LATENCY_MS))
    jitter_ms = draw(st.integers(0, latency_ms // 2))
    return Overlay(
        toxic=Latency(direction=draw(st.sampled_from(Direction)), latency_ms=latency_ms, jitter_ms=jitter_ms)
    )


@st.composite
def _veils(draw: st.DrawFn) -> Overlay:
    """Any toxic that loses nothing."""
    direction = draw(st.sampled_from(Direction))
    slicer = Slicer(direction=direction, average_bytes=draw(st.integers(16, 200)), variation_bytes=8)
    bandwidth = Bandwidth(direction=direction, rate_kbytes_s=draw(st.integers(100, 10_000)))
    return draw(st.one_of(_latencies(), st.sampled_from([Overlay(toxic=slicer), Overlay(toxic=bandwidth)])))


def _lived_through(bench: Bench, faults: Sequence[Fault], suite: str) -> None:
    """Each under a drawn latency, on a new connection or one that is used again, whole or as a stream."""
    assert faults, "the catalogue has none of this kind"

    @_settings(bench)
    @given(_plans(bench, faults, _latencies().map(lambda overlay: (overlay,))))
    def holds(plan: Plan) -> None:
        bench.holds(plan, suite)

    holds()


def _plans(bench: Bench, faults: Sequence[Fault], toxics: _Toxics) -> st.SearchStrategy[Plan]:
    def made(fault: Fault, reused: bool, stream: bool, under: tuple[Overlay, ...]) -> Plan:
        of_listener = is_listener_act(fault.act)
        return Plan(
            operations=(
                PlannedOperation(
                    faults=() if of_listener else (fault.id,),
                    reused=reused and not of_listener,
                    stream=stream and not of_listener,
                    api=bench.spec.plain.api,
                ),
            ),
            listeners=(PlannedListener(fault=fault.id),) if of_listener else (),
            under=under,
        )

    return st.builds(made, st.sampled_from(list(faults)), st.booleans(), st.booleans(), toxics).filter(bench.reaches)


def _answers(so: Callable[[Answer, Fault], bool]) -> list[Fault]:
    """The drawn faults of the catalogue that are such an answer, whole or as a stream alike."""
    known = [fault for fault in CATALOGUE.values() if isinstance(fault.act, Answer) and not fault.act.needs_stream]
    return [fault for fault in known if isinstance(fault.act, Answer) and fault.coverage.drawn and so(fault.act, fault)]


def test_a_reset_in_the_middle_of_a_body_under_latency(toxic_bench: Bench) -> None:
    """The caller gets no half of an answer for a whole one, though Toxiproxy makes the reset an end."""
    cut = _answers(lambda act, fault: fault.phase is Phase.BODY and act.ending is Ending.RESET and act.status == 200)
    _lived_through(toxic_bench, cut, "mid-body reset under latency")


def test_html_with_200_under_latency(toxic_bench: Bench) -> None:
    """It is no success, however late it comes."""
    html = _answers(lambda act, _: act.content is Content.HTML and act.status == 200)
    _lived_through(toxic_bench, html, "HTML with 200 under latency")


def test_a_5xx_after_the_work_was_accepted_under_latency(toxic_bench: Bench) -> None:
    """It is sent once, whatever its contract says of other answers."""
    refused = _answers(lambda act, fault: act.status >= 500 and fault.truth.executed and not act.incomplete)
    _lived_through(toxic_bench, refused, "5xx after the work under latency")


def test_a_slow_accept_under_latency(toxic_bench: Bench) -> None:
    """What lies unread in an accepted connection may still be served when its sender has given up."""
    slow = [
        fault
        for fault in CATALOGUE.values()
        if isinstance(fault.act, LeaveUnread) and not fault.act.small_buffer and fault.evidence.sight is Sight.SILENCE
    ]
    _lived_through(toxic_bench, slow, "slow accept under latency")


def test_a_toxic_that_is_the_fault_under_another(toxic_bench: Bench) -> None:
    """Each at each of its moments, with a toxic laid over that loses nothing."""

    def made(fault: Fault, under: tuple[Overlay, ...]) -> Plan:
        idle = isinstance(fault.act, Poison) and fault.act.at is Moment.IDLE
        operation = PlannedOperation(reused=idle, api=toxic_bench.spec.plain.api)
        return Plan(operations=(operation,), listeners=(PlannedListener(fault=fault.id),), under=under)

    poisons = st.sampled_from(list(POISONS.values()))
    toxics = st.lists(_veils(), max_size=1).map(tuple)

    @_settings(toxic_bench)
    @given(st.builds(made, poisons, toxics).filter(toxic_bench.reaches))
    def holds(plan: Plan) -> None:
        toxic_bench.holds(plan, "toxics as faults")

    holds()
