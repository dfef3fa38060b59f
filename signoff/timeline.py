"""The timeline of one run: what its caller saw and what the router did, side by side, in order of the clock."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Closed,
    Dialled,
    Executed,
    Marked,
    Opened,
    Probed,
    Received,
    Rejected,
    Replied,
    Replying,
    Striking,
    Struck,
    Unserved,
)
from suites.history import Outcome
from suites.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One event: milliseconds since the first one, and what happened on one of the two sides."""

    at_ms: float
    seq: int | None = None
    caller: str = ""
    router: str = ""


def timeline(run: Run) -> tuple[Line, ...]:
    """The events of the plan's operations and of what struck them; warm-up and connections of others left out."""
    events: list[tuple[int, int | None, str, str]] = []
    for outcome in run.history:
        if outcome.operation in run.operations or outcome.operation in run.fresh:
            events += _caller_events(outcome)
    events += _router_events(run)
    events.sort(key=lambda event: event[0])
    start = events[0][0] if events else 0
    return tuple(
        Line(at_ms=(at_ns - start) / 1e6, seq=seq, caller=caller, router=router)
        for at_ns, seq, caller, router in events
    )


def _caller_events(outcome: Outcome) -> Iterator[tuple[int, int | None, str, str]]:
    status = "" if outcome.status is None else f" {outcome.status}"
    says = f": {outcome.says}" if outcome.says else ""
    yield outcome.invoked_at_ns, None, f"operation {outcome.operation} ->", ""
    ended = f"operation {outcome.operation} <- {outcome.kind}{status} ({outcome.arrival}){says}"
    yield outcome.ended_at_ns, None, ended, ""


def _router_events(run: Run) -> Iterator[tuple[int, int | None, str, str]]:
    wanted = frozenset((*run.operations, *run.fresh))
    exchanges: set[int] = set()
    for entry in run.ledger:
        if isinstance(entry, Received) and entry.operation in wanted:
            exchanges.add(entry.exchange)
        if _is_wanted(entry, wanted, exchanges):
            yield entry.at_ns, entry.seq, "", describe(entry)


def _is_wanted(entry: AnyEntry, wanted: frozenset[int], exchanges: set[int]) -> bool:
    match entry:
        case Accepted() | Executed() | Replying() | Replied():
            return entry.exchange in exchanges
        case Received(operation=operation) | Unserved(operation=operation) | Striking(operation=operation):
            return operation in wanted or operation is None
        case Probed() | Opened():
            return False
        case _:
            return True


def describe(entry: AnyEntry) -> str:
    """One entry in words."""
    match entry:
        case Opened():
            return f"connection {entry.connection} opened on upstream {entry.upstream}"
        case Closed():
            return f"connection {entry.connection} ended by {entry.by}"
        case Received():
            reused = f", its exchange {entry.nth}" if entry.nth > 1 else ""
            return (
                f"exchange {entry.exchange} received: operation {entry.operation} on upstream {entry.upstream} "
                f"(connection {entry.connection}{reused})"
            )
        case Accepted():
            return f"exchange {entry.exchange} accepted"
        case Executed():
            return f"exchange {entry.exchange} EXECUTED (execution {entry.execution})"
        case Replying():
            return f"exchange {entry.exchange} answering {entry.status}"
        case Replied():
            return f"exchange {entry.exchange} replied {entry.bytes_sent} bytes{'' if entry.whole else ', not all'}"
        case Striking():
            return f"{entry.fault} strikes"
        case Struck():
            return f"struck x{entry.count} (witness: {entry.witness})"
        case Unserved():
            return f"{entry.request_bytes} bytes on connection {entry.connection} never served"
        case Dialled():
            return f"dial of upstream {entry.upstream} {'refused' if entry.refused else 'dropped'}"
        case Probed():
            return f"probe {entry.method} {entry.target} answered {entry.status}"
        case Rejected():
            return f"rejected with {entry.status}: {entry.why}"
        case Marked():
            return f"-- {entry.mark} --"
        case _:
            assert_never(entry)
