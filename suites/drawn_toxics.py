"""Hypothesis strategies for toxics that are laid over a plan: any that loses no byte, in both directions, on both hops.

They are small: what decides the order is the router's gates.
"""

from dataclasses import replace

from hypothesis import strategies as st

from faults.plan import Plan
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Hop, Overlay
from suites.drawable import Drawable
from suites.reach import unreachable
from suites.subject import SubjectSpec

MAX_LAID = 2
LATENCY_MS = (5, 40)
RATE_KBYTES_S = (100, 10_000)
SLICE_BYTES = (16, 1024)
MAX_PAUSE_US = 20

Overlays = st.SearchStrategy[tuple[Overlay, ...]]


def overlays(spec: SubjectSpec) -> Overlays:
    """None, one, or several that differ in kind, direction or hop; each number is as likely."""
    anything = st.one_of(_latencies(spec), _bandwidths(spec), _slicers(spec))
    several = [
        st.lists(anything, min_size=count, max_size=count, unique_by=lambda one: one.place)
        for count in range(MAX_LAID + 1)
    ]
    return st.one_of(several).map(tuple)


def latency(spec: SubjectSpec) -> Overlays:
    """One latency, with or without jitter."""
    return _latencies(spec).map(lambda one: (one,))


def under(plans: st.SearchStrategy[Plan], laid: Overlays, drawable: Drawable) -> st.SearchStrategy[Plan]:
    """Those plans, each under what is drawn for it: under as many of these as it can be reached under."""

    def as_far_as_reached(toxics: tuple[Overlay, ...], plan: Plan) -> Plan:
        for count in range(len(toxics), 0, -1):
            below = replace(plan, under=toxics[:count])
            if unreachable(below, drawable.spec, drawable.machine) is None:
                return below
        return plan

    return st.builds(as_far_as_reached, laid, plans)  # what is drawn last is mostly drawn empty


@st.composite
def _latencies(draw: st.DrawFn, spec: SubjectSpec) -> Overlay:
    latency_ms = draw(st.integers(*LATENCY_MS))
    jitter_ms = draw(st.integers(0, latency_ms // 2))
    toxic = Latency(direction=draw(_directions()), latency_ms=latency_ms, jitter_ms=jitter_ms)
    return Overlay(toxic=toxic, hop=draw(_hops(spec)))


@st.composite
def _bandwidths(draw: st.DrawFn, spec: SubjectSpec) -> Overlay:
    toxic = Bandwidth(direction=draw(_directions()), rate_kbytes_s=draw(st.integers(*RATE_KBYTES_S)))
    return Overlay(toxic=toxic, hop=draw(_hops(spec)))


@st.composite
def _slicers(draw: st.DrawFn, spec: SubjectSpec) -> Overlay:
    average_bytes = draw(st.integers(*SLICE_BYTES))
    toxic = Slicer(
        direction=draw(_directions()),
        average_bytes=average_bytes,
        variation_bytes=draw(st.integers(0, average_bytes // 2)),
        delay_us=draw(st.integers(0, MAX_PAUSE_US)),
    )
    return Overlay(toxic=toxic, hop=draw(_hops(spec)))


def _directions() -> st.SearchStrategy[Direction]:
    return st.sampled_from(Direction)


def _hops(spec: SubjectSpec) -> st.SearchStrategy[Hop]:
    """Whoever is called in its caller's process has no connection from its caller."""
    return st.just(Hop.ROUTER) if spec.facts.called else st.sampled_from(Hop)
