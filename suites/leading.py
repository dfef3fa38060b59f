"""Who has been in use before is led to the upstream of a plan that is faulty."""

from dataclasses import replace

from fake_router.entries import Received
from faults.acts import Refuse
from faults.catalogue import CATALOGUE
from faults.plan import Plan, PlannedListener
from suites.numbers import Numbers
from suites.stage import Stage
from suites.warming import arm

_REFUSAL = next(fault.id for fault in CATALOGUE.values() if isinstance(fault.act, Refuse))
_MISDIRECTED = 421  # RFC 9110 s15.5.20: whoever gets it may send again, over another connection
_ANSWER = next(fault.id for fault in CATALOGUE.values() if fault.evidence.status == _MISDIRECTED)


def waits_at_first(plan: Plan) -> bool:
    """One of several upstreams is faulty: who goes to another one first never meets it."""
    return plan.upstreams > 1 and any(listener.upstream == 0 for listener in plan.listeners)


async def lead_to_first(stage: Stage, numbers: Numbers) -> None:
    """Where its next operation goes to another upstream than the first, that one refuses once, which is a safe failure.
    Behind Toxiproxy nothing refuses; there it answers that it is not the one. One that goes round in turns is sent on
    until the first has its turn.
    """
    met = await _met(stage, numbers)
    if await _met(stage, numbers) != met:
        await _until_met(stage, numbers, len(stage.ports) - 1)
    elif met:
        await stage.close_idle()  # what its pool holds would be used, and nothing refused
        (number,) = numbers.take(1)
        plain = stage.subject.spec.plain
        refusing = (PlannedListener(fault=_REFUSAL, upstream=met),) if stage.through is None else ()
        asked = plain if refusing else replace(plain, faults=(_ANSWER,))
        upstreams, tls = len(stage.ports), stage.router.tls
        plan = Plan(name="lead", operations=(asked,), listeners=refusing, upstreams=upstreams, tls=tls)
        await stage.on_router(lambda router: arm(router, plan, number, stage.subject.spec.read_timeout_ms))
        await stage.instance.call(plain, number, stage.subject.spec.ceiling_ms)
        await stage.on_router(lambda router: router.heal())


async def lead_by_turns(stage: Stage, numbers: Numbers, plan: Plan, turn: int) -> None:
    """One that has been in use, or begins by chance, may go round, or stay where it is. Healthy operations are sent
    until one of them meets, in odd turns, the upstream before the faulty one; in even turns the faulty one itself.

    One that chooses by chance each time is led nowhere; it has its next turn.
    """
    faulty = next((listener.upstream for listener in plan.listeners if listener.upstream is not None), None)
    if faulty is None:
        return
    await _until_met(stage, numbers, (faulty - turn % 2) % len(stage.ports))


async def _until_met(stage: Stage, numbers: Numbers, wanted: int) -> None:
    """Healthy operations, the last of which went there, unless it is one to which none of them goes."""
    for _ in range(2 * len(stage.ports)):
        if await _met(stage, numbers) == wanted:
            break
    await stage.close_idle()


async def _met(stage: Stage, numbers: Numbers) -> int | None:
    """The upstream to which an operation goes; None where it went nowhere."""
    (number,) = numbers.take(1)
    since = len(stage.entries())
    await stage.instance.call(stage.subject.spec.plain, number, stage.subject.spec.ceiling_ms)
    came = [entry for entry in stage.entries(since=since) if isinstance(entry, Received) and entry.operation == number]
    return came[-1].upstream if came else None
