"""The smallest plan that still shows a failure: parts are left out one by one while it still fails."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import assert_never

from faults.acts import needs_stream
from faults.catalogue import fault_named
from faults.plan import LEFT_GATE, Plan, PlanError, PlannedOperation, awaited_operation
from faults.toxics import Bandwidth, Latency, Slicer
from faults.under import OverlayToxic

MAX_ROUNDS = 40  # a failing plan has at most a dozen parts to leave out, and its toxics a few strengths
TOGETHER = 3  # candidates lived through side by side; those behind the first that fails were in vain
WIDEST_KBYTES_S, LARGEST_SLICE_BYTES = 100_000, 4096  # what is wider holds up no reply of the catalogue


async def shrink(plan: Plan, fails: Callable[[Plan], Awaitable[bool]]) -> Plan:
    """The plan with all left out that the failure does not need; `fails` lives through a candidate.

    A few candidates at a time are lived through side by side, and of them the first that fails is kept. It goes on with
    the candidates behind that one, then with those that were refused of a larger plan, until the smallest refuses all.
    """
    place = refused = 0
    candidates = list(simpler(plan))
    for _ in range(MAX_ROUNDS):
        if refused >= len(candidates):
            return plan
        some = [(place + n) % len(candidates) for n in range(min(TOGETHER, len(candidates) - refused))]
        failed = await asyncio.gather(*(fails(candidates[one]) for one in some))
        kept = next((one for one, does in zip(some, failed, strict=True) if does), None)
        if kept is None:
            place, refused = (some[-1] + 1) % len(candidates), refused + len(some)
            continue
        plan = candidates[kept]
        candidates, refused = list(simpler(plan)), 0
        place = kept if kept < len(candidates) else 0
    return plan


def simpler(plan: Plan) -> Iterator[Plan]:
    """Every plan that leaves out one part of this one, larger parts first; then those under a weaker toxic."""
    for index in range(len(plan.operations)):
        yield from _try(plan, operations=_without(plan.operations, index))
    for index in range(len(plan.listeners)):
        yield from _try(plan, listeners=plan.listeners[:index] + plan.listeners[index + 1 :])
    for index in range(len(plan.under)):
        yield from _try(plan, under=plan.under[:index] + plan.under[index + 1 :])
    if plan.tls:
        yield from _try(plan, tls=False)
    for index, operation in enumerate(plan.operations):
        for changed in _simpler_operations(operation):
            operations = (*plan.operations[:index], changed, *plan.operations[index + 1 :])
            yield from _try(plan, operations=operations)
    for index, overlay in enumerate(plan.under):
        for toxic in _weaker(overlay.toxic):
            under = (*plan.under[:index], replace(overlay, toxic=toxic), *plan.under[index + 1 :])
            yield from _try(plan, under=under)


def _weaker(toxic: OverlayToxic) -> Iterator[OverlayToxic]:
    """What holds bytes up more evenly, or less: of these the weakest first, and none as weak as no toxic at all."""
    match toxic:
        case Latency(latency_ms=latency_ms, jitter_ms=jitter_ms):
            if jitter_ms:
                yield replace(toxic, jitter_ms=0)
            for shorter_ms in sorted({1, latency_ms // 4, latency_ms // 2}):
                if 0 < shorter_ms < latency_ms:
                    yield replace(toxic, latency_ms=shorter_ms, jitter_ms=min(jitter_ms, shorter_ms))
        case Bandwidth(rate_kbytes_s=rate):
            for wider in sorted({WIDEST_KBYTES_S, 10 * rate, 2 * rate}, reverse=True):
                if rate < wider <= WIDEST_KBYTES_S:
                    yield replace(toxic, rate_kbytes_s=wider)
        case Slicer(average_bytes=average, variation_bytes=variation, delay_us=delay_us):
            if delay_us:
                yield replace(toxic, delay_us=0)
            if variation:
                yield replace(toxic, variation_bytes=0)
            for larger in sorted({LARGEST_SLICE_BYTES, 4 * average, 2 * average}, reverse=True):
                if average < larger <= LARGEST_SLICE_BYTES:
                    yield replace(toxic, average_bytes=larger)
        case _:
            assert_never(toxic)


def _simpler_operations(operation: PlannedOperation) -> Iterator[PlannedOperation]:
    if operation.faults:
        yield replace(operation, faults=operation.faults[:-1])
        yield replace(operation, faults=operation.faults[1:])
    if operation.reused:
        yield replace(operation, reused=False)
    if operation.segments != 1:
        yield replace(operation, segments=1)
    if operation.stream and not any(needs_stream(fault_named(id_).act) for id_ in operation.faults):
        yield replace(operation, stream=False)
    if operation.body_bytes:
        yield replace(operation, body_bytes=0)
    if operation.expect:
        yield replace(operation, expect=False)
    if operation.leaves is not None:
        yield replace(operation, leaves=None, gate=None)
    elif operation.gate is not None:
        yield replace(operation, gate=None)
    if operation.wave:
        yield replace(operation, wave=0)


def _without(operations: tuple[PlannedOperation, ...], gone: int) -> tuple[PlannedOperation, ...]:
    """The other operations; gates that waited for the one left out are gone too, the rest are renumbered."""
    kept: list[PlannedOperation] = []
    for index, operation in enumerate(operations):
        awaited = awaited_operation(operation.gate)
        if index == gone:
            continue
        if awaited == gone:
            operation = replace(operation, gate=None)
        elif awaited is not None and awaited > gone:
            operation = replace(operation, gate=f"received:{awaited - 1}")
        elif operation.gate == f"{LEFT_GATE}{index}":
            operation = replace(operation, gate=f"{LEFT_GATE}{len(kept)}")
        kept.append(operation)
    return tuple(kept)


def _try(plan: Plan, **changes: object) -> Iterator[Plan]:
    try:
        yield replace(plan, **changes)  # type: ignore[arg-type]  # replace() takes any field of a Plan
    except PlanError:
        return
