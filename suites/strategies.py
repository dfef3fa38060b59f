"""Hypothesis strategies for whole plans. A plan is drawn first and then executed: chance never acts inside a run.

Each plan is drawn around one fault, which a connection or an operation meets first unless its caller leaves before: so
every fault strikes about as often as any other, whatever else surrounds it.
"""

from dataclasses import replace
from functools import lru_cache

from hypothesis import strategies as st

from faults.acts import (
    HEALTHY,
    Act,
    DialAct,
    HoldPool,
    LeaveUnread,
    Misresolve,
    Refuse,
    is_listener_act,
    may_meet_reused,
    needs_expectation,
    needs_reused,
    needs_stream,
    needs_tcp,
    needs_tls,
    needs_whole,
    strikes_idle,
)
from faults.coverage import Depth
from faults.families import Family
from faults.plan import EACH_BYTE, LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.poison import Poison
from faults.truth import speaks_unasked
from faults.vocabulary import Leaving
from suites.drawable import Drawable, act_of
from suites.drawn_toxics import overlays, under
from suites.reach import Machine
from suites.subject import SubjectSpec

MAX_TOGETHER = 4
MAX_FAULTS = 2
SMALL_BYTES, LARGE_BYTES = 1024, 64 * 1024


def plans(
    spec: SubjectSpec, machine: Machine, depth: Depth = Depth.FULL, *, toxics: bool = False
) -> st.SearchStrategy[Plan]:
    """Plans that this subject can reach on this machine: listeners that break, or operations in company. toxics: each
    is under what Toxiproxy may lay over it, and some faults are toxics. Raises ValueError where there is none.
    """
    drawable = Drawable(spec, machine, depth, toxics)
    return st.sampled_from(drawable.names).flatmap(lambda name: plans_around(drawable, name))


def plans_around(drawable: Drawable, name: str) -> st.SearchStrategy[Plan]:
    """Those of them whose first fault is the one of that name, or belongs to the family of that name."""
    of_listener = name not in drawable.families and is_listener_act(act_of(name))
    around = _listener_plans(drawable, name) if of_listener else _operation_plans(drawable, name)
    return under(around, overlays(drawable.spec), drawable) if drawable.toxics else around


@st.composite
def _listener_plans(draw: st.DrawFn, drawable: Drawable, fault: str) -> Plan:
    """One operation; one upstream, or every one, is faulty until healed; later exchanges may fail too."""
    spec, machine, act = drawable.spec, drawable.machine, act_of(fault)
    tls = needs_tls(act) or (not needs_tcp(act) and draw(_speaks_tls(drawable)))
    refuses = isinstance(act, Refuse)
    reused = may_meet_reused(act) and "reused" not in spec.reach and (needs_reused(act) or not draw(_mostly()))
    # Which of the connections that lie idle the next request takes is the subject's affair: all of them are held.
    one_of_many = not reused and spec.upstreams > 1 and (machine.packets or not refuses) and draw(_mostly())
    # The first sending of a fresh subject goes to its first upstream: a fault elsewhere would never be met.
    listener = PlannedListener(fault=fault, upstream=0 if one_of_many else None)
    # Without packets nobody knows whether a dropped SYN came before or after an exchange that failed.
    in_order = machine.packets or isinstance(act, HoldPool | Misresolve) or not isinstance(act, DialAct)
    # What is served when its sender has gone shows it no further fault.
    in_order = in_order and not (isinstance(act, LeaveUnread) and act.serve_after is not None)
    in_order = in_order and not isinstance(act, Poison)  # the router behind it is healthy
    healthy_way = one_of_many or strikes_idle(act)
    stream = draw(_streams(drawable, act))
    operation = PlannedOperation(
        faults=draw(_fault_lists(drawable, tls, stream, MAX_FAULTS)) if healthy_way and in_order else (),
        reused=reused,
        body_bytes=draw(_body_bytes(spec)),
        expect=needs_expectation(act),
        api=draw(st.sampled_from(spec.apis)).value,
        stream=stream,
    )
    return Plan(
        upstreams=spec.upstreams if one_of_many else 1,
        tls=tls,
        operations=(operation,),
        listeners=(listener,),
    )


@st.composite
def _operation_plans(draw: st.DrawFn, drawable: Drawable, name: str) -> Plan:
    """Up to MAX_TOGETHER operations in up to two waves, each with up to MAX_FAULTS faults; one of them meets the fault
    of that name first.
    """
    fault = draw(_member(drawable.families[name])) if name in drawable.families else name
    act = act_of(fault)
    tls = needs_tls(act) or draw(_speaks_tls(drawable))
    reused = "reused" not in drawable.spec.reach and draw(st.booleans())
    waves, place = draw(_waves(alone=speaks_unasked(act)))
    operations = []
    for index, wave in enumerate(waves):
        first = (fault,) if index == place else ()
        stream = draw(_streams(drawable, act if first else HEALTHY))
        faults = (*first, *draw(_fault_lists(drawable, tls, stream, MAX_FAULTS - len(first))))
        operation = draw(_operations(drawable, index, faults, stream))
        # Later waves meet what the faults of the first one left.
        operations.append(replace(operation, reused=reused and wave == waves[0], wave=wave))
    return Plan(tls=tls, operations=tuple(operations))


@st.composite
def _waves(draw: st.DrawFn, *, alone: bool) -> tuple[list[int], int]:
    """The wave of each operation, and which of them is struck for certain; alone: nothing is in flight beside it."""
    count = draw(st.integers(1, MAX_TOGETHER))
    if alone:
        return [0, *[1] * (count - 1)], 0
    waves = sorted(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    return waves, draw(st.integers(0, count - 1))


@st.composite
def _operations(
    draw: st.DrawFn, drawable: Drawable, index: int, faults: tuple[str, ...], stream: bool
) -> PlannedOperation:
    spec = drawable.spec
    earlier = [f"received:{other}" for other in range(index)]
    segments = draw(st.sampled_from((1, 2, EACH_BYTE))) if drawable.segments else 1
    operation = PlannedOperation(
        faults=faults,
        segments=segments,
        body_bytes=draw(_body_bytes(spec)) if segments != EACH_BYTE else 0,
        gate=draw(st.sampled_from([None, None, *earlier])),
        api=draw(st.sampled_from(spec.apis)).value,
        stream=stream,
    )
    return _leaving(operation, index, draw(st.sampled_from(drawable.ways_to_leave)))


def _leaving(operation: PlannedOperation, index: int, leaves: Leaving | None) -> PlannedOperation:
    """The same operation, whose caller leaves: its answer is held until then, unless it is late anyway."""
    if leaves is None:
        return operation
    gate = operation.gate if operation.waits_for_its_caller else f"{LEFT_GATE}{index}"
    return replace(operation, leaves=leaves, gate=gate)


def _speaks_tls(drawable: Drawable) -> st.SearchStrategy[bool]:
    """In a minority of plans: a handshake costs time. In all where nothing else is spoken."""
    if drawable.spec.always_tls:
        return st.just(True)
    return st.sampled_from([False] * 4 + [drawable.speaks_tls])


def _mostly() -> st.SearchStrategy[bool]:
    """Three times in four: beside a healthy upstream a plan can say more."""
    return st.sampled_from((True, True, True, False))


def _streams(drawable: Drawable, act: Act) -> st.SearchStrategy[bool]:
    """What meets that act asks for a stream where it has to; else one in three does."""
    if needs_stream(act):
        return st.just(True)
    if needs_whole(act) or needs_expectation(act):
        return st.just(False)
    return st.sampled_from([False, False, drawable.streams])


def _body_bytes(spec: SubjectSpec) -> st.SearchStrategy[int]:
    """Most bodies are as small as they can be; the others are of every size, so that no fault has few plans."""
    if "body_bytes" in spec.reach:
        return st.just(0)
    return st.one_of(st.just(0), st.just(0), st.just(0), st.integers(SMALL_BYTES, LARGE_BYTES))


@lru_cache(maxsize=64)
def _fault_lists(drawable: Drawable, tls: bool, stream: bool, most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(_exchange_faults(drawable, tls, stream), max_size=most).map(tuple)


def _exchange_faults(drawable: Drawable, tls: bool, stream: bool) -> st.SearchStrategy[str]:
    """A fault of the catalogue, or (as often as any one of those) a member of a family. Of a stream, every other one
    strikes streams alone, and over TLS every third one TLS alone: they are few, and so are streams and TLS.
    """
    reachable = drawable.in_company(tls=tls, stream=stream)
    of_streams = [id_ for id_ in reachable if needs_stream(act_of(id_))]
    of_tls = [id_ for id_ in reachable if needs_tls(act_of(id_))]
    families = drawable.families
    names = [*(id_ for id_ in reachable if id_ not in of_streams and id_ not in of_tls), *families]
    drawn = st.sampled_from(names).flatmap(lambda name: _member(families[name]) if name in families else st.just(name))
    if of_tls:
        drawn = st.one_of(drawn, drawn, st.sampled_from(of_tls))
    return st.one_of(drawn, st.sampled_from(of_streams)) if of_streams else drawn


def _member(family: Family) -> st.SearchStrategy[str]:
    return st.integers(1, family.last).map(family.id_of)
