"""What was laid over a run has lain there: what came too soon, or is listed no more, proves nothing."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from fake_router.entries import AnyEntry, Received, Replying
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Hop, Overlay, least_ms
from suites.findings import Verdict
from suites.history import Kind
from suites.run import Run
from tests.ledgers import FRESH, explain, failed, ok, planned, run, said_of, served

MS = 1_000_000
UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


def _latency(direction: Direction, hop: Hop = Hop.ROUTER, jitter_ms: int = 10, toxicity: int = 1) -> Overlay:
    toxic = Latency(direction=direction, latency_ms=30, jitter_ms=jitter_ms, toxicity=toxicity)
    return Overlay(toxic=toxic, hop=hop)


def _lived(*under: Overlay, received_ms: float, replying_ms: float, ended_ms: float) -> Run:
    """A healthy run whose fresh operation was invoked at 0."""
    healthy = run(planned(), served(1, 1), ok())
    times: Mapping[type[AnyEntry], float] = {Received: received_ms, Replying: replying_ms}
    ledger = tuple(
        msgspec.structs.replace(entry, at_ns=round(times.get(type(entry), 0.0) * MS)) for entry in healthy.ledger
    )
    history = tuple(
        replace(outcome, ended_at_ns=round(ended_ms * MS)) if outcome.operation == FRESH else outcome
        for outcome in healthy.history
    )
    return replace(healthy, plan=replace(healthy.plan, under=under), ledger=ledger, history=history)


@pytest.mark.parametrize(
    ("under", "at_ms", "verdict"),
    [
        ((_latency(UP),), (20, 20, 20), Verdict.PASS),
        ((_latency(UP),), (19.9, 60, 90), Verdict.UNKNOWN),
        ((_latency(DOWN),), (0, 5, 25), Verdict.PASS),
        ((_latency(DOWN),), (0, 5, 24.9), Verdict.UNKNOWN),
        ((_latency(UP), _latency(UP, Hop.CALLER)), (40, 40, 40), Verdict.PASS),
        ((_latency(UP), _latency(UP, Hop.CALLER)), (39.9, 60, 90), Verdict.UNKNOWN),
        ((_latency(DOWN, toxicity=0),), (0, 0, 0), Verdict.PASS),
        ((_latency(UP, jitter_ms=30),), (0, 0, 0), Verdict.PASS),
        ((Overlay(toxic=Slicer(average_bytes=1, delay_us=9)), Overlay(toxic=Bandwidth(rate_kbytes_s=1))), (0, 0, 0), 0),
    ],
)
def test_nothing_passes_a_latency_sooner(
    under: tuple[Overlay, ...], at_ms: tuple[float, float, float], verdict: int
) -> None:
    """Upstream it is the request that shows it, downstream the answer; hops add up."""
    lived = _lived(*under, received_ms=at_ms[0], replying_ms=at_ms[1], ended_ms=at_ms[2])
    says = {} if verdict == Verdict.PASS else {"vacuity": Verdict.UNKNOWN}
    assert said_of(lived) == (Verdict(verdict), says), explain(lived)


def test_a_fresh_operation_that_failed_shows_no_latency() -> None:
    """It may have no answer that passed."""
    lived = _lived(_latency(UP), received_ms=0, replying_ms=0, ended_ms=0)
    assert said_of(lived)[1] == {"vacuity": Verdict.UNKNOWN}
    broken = replace(lived, history=(lived.history[0], failed(FRESH)))
    assert "vacuity" not in said_of(broken)[1]
    assert broken.history[-1].kind is not Kind.OK


def test_what_is_listed_no_more_proves_nothing() -> None:
    """Also of a toxic that has no bound on time."""
    lived = replace(_lived(Overlay(toxic=Slicer(average_bytes=9)), received_ms=0, replying_ms=0, ended_ms=0))
    assert said_of(lived) == (Verdict.PASS, {})
    assert said_of(replace(lived, overlaid=False)) == (Verdict.UNKNOWN, {"vacuity": Verdict.UNKNOWN})


def test_on_one_hop_the_longest_is_sure() -> None:
    """Toxics on one hop count the same time."""
    assert least_ms((_latency(UP), _latency(UP, jitter_ms=0), _latency(DOWN)), UP) == 30
