"""Many operations at once on one instance, and nothing besides: no warm-up, and no healing that anybody judges."""

import asyncio
import time

from faults.plan import Plan
from suites.driver import Driver
from suites.ownership import own_entries
from suites.run import Run
from suites.settling import settle
from suites.stage import Stage
from suites.warming import arm


async def crowded(driver: Driver, stage: Stage, plan: Plan) -> Run:
    """All operations of that plan in flight together; over when the subject is idle again, or quiet. That the loop of
    their callers comes late ends nothing and delays no answer: what it takes to call so many is theirs alone.

    Raises ValueError for a plan whose operations come one after the other, or that breaks a listener.
    """
    if plan.listeners or len({operation.wave for operation in plan.operations}) != 1:
        raise ValueError(f"plan {plan.name!r}; expected operations of one wave, and no listener that is faulty")
    await driver.feel_pulses()
    started_ns = time.monotonic_ns()
    spec = driver.subject.spec
    operations = driver.numbers.take(len(plan.operations))
    since = await stage.on_router(lambda router: arm(router, plan, operations[0], spec.read_timeout_ms))
    calls = [
        stage.instance.call(planned, number, spec.ceiling_ms)
        for planned, number in zip(plan.operations, operations, strict=True)
    ]
    history = await asyncio.gather(*calls)
    settled = await settle(stage, spec)
    await stage.leave()
    entries = stage.entries(since=since)
    return Run(
        plan=plan,
        subject=spec.facts,
        operations=operations,
        ledger=own_entries(entries, range(len(entries)), frozenset(operations)),
        history=tuple(history),
        settled=settled,
        died=stage.instance.died(),
        stalled_ms=max(pulse.worst_since(started_ns) for pulse in driver.pulses if not pulse.is_here),
        shortest_timeout_ms=min(spec.read_timeout_ms, spec.connect_timeout_ms),
    )
