"""The smallest plan that still shows a failure: parts are left out one by one while it still fails."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from faults.acts import needs_stream
from faults.catalogue import fault_named
from faults.plan import LEFT_GATE, Plan, PlanError, PlannedOperation, awaited_operation

MAX_ROUNDS = 20  # a failing plan has at most a dozen parts to leave out


async def shrink(plan: Plan, fails: Callable[[Plan], Awaitable[bool]]) -> Plan:
    """The plan with all left out that the failure does not need; `fails` lives through a candidate.

    The candidates of a round are lived through side by side, and the first that fails, in their order, is kept.
    """
    for _ in range(MAX_ROUNDS):
        candidates = list(simpler(plan))
        failed = await asyncio.gather(*map(fails, candidates))
        smaller = next((candidate for candidate, does in zip(candidates, failed, strict=True) if does), None)
        if smaller is None:
            return plan
        plan = smaller
    return plan


def simpler(plan: Plan) -> Iterator[Plan]:
    """Every plan that leaves out one part of this one; larger parts first."""
    for index in range(len(plan.operations)):
        yield from _try(plan, operations=_without(plan.operations, index))
    for index in range(len(plan.listeners)):
        yield from _try(plan, listeners=plan.listeners[:index] + plan.listeners[index + 1 :])
    if plan.tls:
        yield from _try(plan, tls=False)
    for index, operation in enumerate(plan.operations):
        for changed in _simpler_operations(operation):
            operations = (*plan.operations[:index], changed, *plan.operations[index + 1 :])
            yield from _try(plan, operations=operations)


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
