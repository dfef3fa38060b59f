"""Hypothesis strategies for whole plans. A plan is drawn first and then executed: chance never acts inside a run."""

from dataclasses import dataclass, replace
from functools import lru_cache

from hypothesis import strategies as st

from faults.acts import (
    DialAct,
    HoldPool,
    LeaveUnread,
    Misresolve,
    Refuse,
    is_listener_act,
    may_meet_reused,
    needs_expectation,
    needs_stream,
    needs_tcp,
    needs_tls,
    strikes_idle,
)
from faults.catalogue import CATALOGUE, FAMILIES, fault_named
from faults.families import Family
from faults.plan import EACH_BYTE, LEFT_GATE, Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Leaving
from suites.reach import Machine, breaks_contract
from suites.subject import SubjectSpec

_DRAWN = tuple(fault for fault in CATALOGUE.values() if fault.coverage.drawn)
_EXCHANGE_FAULTS = tuple(fault.id for fault in _DRAWN if not is_listener_act(fault.act))
_LISTENER_FAULTS = tuple(fault.id for fault in _DRAWN if is_listener_act(fault.act))
MAX_TOGETHER = 4
MAX_FAULTS = 2
LARGE_BYTES = 64 * 1024


@dataclass(frozen=True, eq=False)
class _Drawing:
    """For whom plans are drawn. What may be chosen from is the same for all of them: it is found out once."""

    spec: SubjectSpec
    machine: Machine


def plans(spec: SubjectSpec, machine: Machine) -> st.SearchStrategy[Plan]:
    """Plans that this subject can reach on this machine: listeners that break, or operations in company."""
    drawing = _Drawing(spec, machine)
    return st.one_of(_operation_plans(drawing), _listener_plans(drawing))


def _speaks_tls(spec: SubjectSpec) -> st.SearchStrategy[bool]:
    """In a minority of plans: a handshake costs time. In all where nothing else is spoken."""
    if spec.always_tls:
        return st.just(True)
    can = spec.tls and "tls" not in spec.reach
    return st.sampled_from([False] * 4 + [can])


def _reachable(ids: tuple[str, ...], spec: SubjectSpec, tls: bool) -> list[str]:
    contract = spec.facts.contract
    return [
        id_
        for id_ in ids
        if id_ not in spec.reach and not breaks_contract(id_, contract) and (tls or not needs_tls(fault_named(id_).act))
    ]


@lru_cache(maxsize=8)
def _possible_on_listeners(drawing: _Drawing) -> list[str]:
    """Each as often as any other, whether it strikes TLS, plain TCP, or both."""
    spec, machine = drawing.spec, drawing.machine
    can_tls = spec.tls and "tls" not in spec.reach
    acts = {id_: fault_named(id_).act for id_ in _reachable(_LISTENER_FAULTS, spec, can_tls)}
    return [
        id_
        for id_, act in acts.items()
        if machine.lacks_for(act) is None
        and not (spec.always_tls and needs_tcp(act))
        and (spec.names or not isinstance(act, Misresolve))
        and (spec.pool or not isinstance(act, HoldPool))
        and (spec.passes_expect or not needs_expectation(act))
        and not ("reused" in spec.reach and strikes_idle(act))
    ]


@st.composite
def _listener_plans(draw: st.DrawFn, drawing: _Drawing) -> Plan:
    """One operation; one upstream, or every one, is faulty until healed; later exchanges may fail too."""
    spec, machine = drawing.spec, drawing.machine
    fault = draw(st.sampled_from(_possible_on_listeners(drawing)))
    act = fault_named(fault).act
    tls = needs_tls(act) or (not needs_tcp(act) and draw(_speaks_tls(spec)))
    refuses = isinstance(act, Refuse)
    reused = may_meet_reused(act) and "reused" not in spec.reach and (strikes_idle(act) or not draw(_mostly()))
    # Which of the connections that lie idle the next request takes is the subject's affair: all of them are held.
    one_of_many = not reused and spec.upstreams > 1 and (machine.packets or not refuses) and draw(_mostly())
    # The first sending of a fresh subject goes to its first upstream: a fault elsewhere would never be met.
    listener = PlannedListener(fault=fault, upstream=0 if one_of_many else None)
    # Without packets nobody knows whether a dropped SYN came before or after an exchange that failed.
    in_order = machine.packets or isinstance(act, HoldPool | Misresolve) or not isinstance(act, DialAct)
    # What is served when its sender has gone shows it no further fault.
    in_order = in_order and not (isinstance(act, LeaveUnread) and act.serve_after is not None)
    healthy_way = one_of_many or strikes_idle(act)
    stream = not needs_expectation(act) and draw(st.sampled_from(_streams(spec)))
    operation = PlannedOperation(
        faults=draw(_fault_lists(drawing, tls, stream)) if healthy_way and in_order else (),
        reused=reused,
        body_bytes=draw(_body_bytes(spec)),
        expect=needs_expectation(act),
        api=spec.plain.api,
        stream=stream,
    )
    return Plan(
        upstreams=spec.upstreams if one_of_many else 1,
        tls=tls,
        operations=(operation,),
        listeners=(listener,),
    )


def _mostly() -> st.SearchStrategy[bool]:
    """Three times in four: beside a healthy upstream a plan can say more."""
    return st.sampled_from((True, True, True, False))


def _body_bytes(spec: SubjectSpec) -> st.SearchStrategy[int]:
    """Most bodies are as small as they can be."""
    return st.just(0) if "body_bytes" in spec.reach else st.sampled_from((0, 0, 0, LARGE_BYTES))


@st.composite
def _operation_plans(draw: st.DrawFn, drawing: _Drawing) -> Plan:
    """Up to MAX_TOGETHER operations in up to two waves, each with up to MAX_FAULTS faults."""
    spec = drawing.spec
    count = draw(st.integers(1, MAX_TOGETHER))
    tls = draw(_speaks_tls(spec))
    reused = "reused" not in spec.reach and draw(st.booleans())
    split = not spec.facts.in_process and "segments" not in spec.reach
    waves = sorted(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    operations = []
    for index, wave in enumerate(waves):
        earlier = [f"received:{other}" for other in range(index)]
        segments = draw(st.sampled_from((1, 2, EACH_BYTE))) if split else 1
        stream = draw(st.sampled_from(_streams(spec)))
        operation = PlannedOperation(
            faults=draw(_fault_lists(drawing, tls, stream)),
            reused=reused and wave == waves[0],  # later waves meet what the faults of the first one left
            segments=segments,
            body_bytes=draw(_body_bytes(spec)) if segments != EACH_BYTE else 0,
            wave=wave,
            gate=draw(st.sampled_from([None, None, *earlier])),
            api=draw(st.sampled_from(spec.apis)).value,
            stream=stream,
        )
        operations.append(_leaving(operation, index, draw(st.sampled_from(_ways_to_leave(spec)))))
    return Plan(tls=tls, operations=tuple(operations))


def _streams(spec: SubjectSpec) -> list[bool]:
    """One in three is a stream."""
    return [False] if "streaming" in spec.reach else [False, False, True]


def _ways_to_leave(spec: SubjectSpec) -> list[Leaving | None]:
    """Most callers stay."""
    if "leaves" in spec.reach:
        return [None]
    ways = [leaving for leaving in Leaving if not (spec.facts.in_process and leaving is Leaving.HALF_CLOSE)]
    return [None] * 9 + ways


def _leaving(operation: PlannedOperation, index: int, leaves: Leaving | None) -> PlannedOperation:
    """The same operation, whose caller leaves: its answer is held until then, unless it is late anyway."""
    if leaves is None:
        return operation
    gate = operation.gate if operation.waits_for_its_caller else f"{LEFT_GATE}{index}"
    return replace(operation, leaves=leaves, gate=gate)


@lru_cache(maxsize=8)
def _fault_lists(drawing: _Drawing, tls: bool, stream: bool) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(_exchange_faults(drawing.spec, tls, stream), max_size=MAX_FAULTS).map(tuple)


def _exchange_faults(spec: SubjectSpec, tls: bool, stream: bool) -> st.SearchStrategy[str]:
    """A fault of the catalogue, or (as often as any one of those) a member of a family. Of a stream, every other one
    strikes streams alone, and over TLS every third one TLS alone: they are few, and so are streams and TLS.
    """
    families = {family.name: family for family in FAMILIES if family.name not in spec.reach}
    reachable = _reachable(_EXCHANGE_FAULTS, spec, tls)
    of_streams = [id_ for id_ in reachable if needs_stream(CATALOGUE[id_].act)]
    of_tls = [id_ for id_ in reachable if needs_tls(CATALOGUE[id_].act)]
    names = [*(id_ for id_ in reachable if id_ not in of_streams and id_ not in of_tls), *families]
    drawn = st.sampled_from(names).flatmap(lambda name: _members(families[name]) if name in families else st.just(name))
    if of_tls:
        drawn = st.one_of(drawn, drawn, st.sampled_from(of_tls))
    return st.one_of(drawn, st.sampled_from(of_streams)) if stream and of_streams else drawn


def _members(family: Family) -> st.SearchStrategy[str]:
    return st.integers(1, family.last).map(family.id_of)
