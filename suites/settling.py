"""When a run is over: no exchange that carries an operation is open, and the subject is idle, or quiet."""

import asyncio
import time
from collections.abc import Sequence

from fake_router.entries import AnyEntry, Asked, Closed, Dialled, Opened, Probed, Received, Striking, Unserved
from fake_router.server import Router
from suites.stage import Stage
from suites.subject import SubjectSpec, Telling

IDLE_STEP_S = 0.005


async def settle(stage: Stage, spec: SubjectSpec) -> bool:
    """Wait until the run is over; False when the ceiling ends it first. Health probes do not count."""
    deadline = time.monotonic() + spec.ceiling_ms / 1000
    while (left := deadline - time.monotonic()) > 0:
        if not await stage.all_over(left):
            return False
        if await _idle_or_quiet(stage, spec):
            return True
    return False


def last_words(instance: object) -> str:
    """What it last said of itself, where that was not that it is idle; empty for one that is not asked."""
    return instance.idleness.says if isinstance(instance, Telling) else ""


async def _idle_or_quiet(stage: Stage, spec: SubjectSpec) -> bool:
    """Nothing is in flight inside the subject (where it can say so), or nothing came for its quiet window."""
    idle = await stage.instance.idle()
    if idle is not None:
        if not idle:
            await asyncio.sleep(IDLE_STEP_S)  # idleness has no event: it is asked for over HTTP
            return False
        return await stage.on_router(lambda router: router.busy()) == 0
    before = await stage.on_router(lambda router: len(router.ledger))
    await asyncio.sleep((spec.quiet_ms or 0) / 1000)  # the quiet window is this wait
    return await stage.on_router(lambda router: _quiet_since(router, before))


def _quiet_since(router: Router, seq: int) -> bool:
    return router.busy() == 0 and sendings(router.ledger.since(seq)) == 0


def sendings(entries: Sequence[AnyEntry]) -> int:
    """How many of these entries may show that an operation was sent.

    A connection counts from its opening until something is known of it: a request may be on its way. One that
    brought a probe, or ended without a word, was no sending; a probe's strike is none either.
    """
    probes = {entry.connection for entry in entries if isinstance(entry, Probed)}
    known = probes | {entry.connection for entry in entries if isinstance(entry, Received | Unserved | Closed)}
    return sum(_may_be_sending(entry, probes, known) for entry in entries)


def _may_be_sending(entry: AnyEntry, probes: set[int], known: set[int]) -> bool:
    match entry:
        case Received(operation=operation):
            return operation is not None
        case Unserved() | Dialled() | Asked():
            return True
        case Striking(connection=connection, exchange=None):
            return connection is not None and connection not in probes
        case Opened(connection=connection):
            return connection not in known
        case _:
            return False
