"""Whether what a plan lays over its hops lay there: Toxiproxy still lists it at the end, and nothing came too soon.

A latency is a lower bound on time, which no busy machine can break. It is looked at in the fresh operations alone:
while toxics are set and lifted, Toxiproxy passes on at once what it holds.
"""

from collections.abc import Iterator

from fake_router.entries import Received, Replying
from faults.toxics import Direction
from faults.under import least_ms
from suites.history import Kind, Outcome
from suites.run import Run

Gap = tuple[str, tuple[int, ...], int | None]  # what is missing, entries, operation
Passing = tuple[int, int, int]  # when it was sent, when it had come (nanoseconds), the entry that says so


def overlay_gaps(run: Run) -> Iterator[Gap]:
    """Why it may not have lain there; nothing where it did, or nothing was laid."""
    if not run.overlaid:
        yield "what the plan lays over its hops did not lie there when the run was over", (), None
    for direction in Direction:
        least = least_ms(run.plan.under, direction)
        if least:
            yield from _too_soon(run, direction, least)


def _too_soon(run: Run, direction: Direction, least: int) -> Iterator[Gap]:
    for outcome in run.history:
        if outcome.operation not in run.fresh or outcome.kind is not Kind.OK:
            continue
        for sent_ns, came_ns, entry in _passed(run, outcome, direction):
            if came_ns - sent_ns < least * 1_000_000:
                took = f"{(came_ns - sent_ns) / 1e6:.1f} ms"
                says = f"fresh operation {outcome.operation} came {direction} within {took}; its latency is {least} ms"
                yield f"{says} or more", (entry,), outcome.operation


def _passed(run: Run, outcome: Outcome, direction: Direction) -> Iterator[Passing]:
    """Its request, from its caller to the router; or its answer, from the router to its caller, as soon as one of its
    exchanges was answered.
    """
    received = [entry for entry in run.ledger if isinstance(entry, Received) and entry.operation == outcome.operation]
    if direction is Direction.UPSTREAM:
        for entry in received:
            yield outcome.invoked_at_ns, entry.at_ns, entry.seq
        return
    exchanges = {entry.exchange for entry in received}
    for answer in run.ledger:
        if isinstance(answer, Replying) and answer.exchange in exchanges:
            yield answer.at_ns, outcome.ended_at_ns, answer.seq
            return
