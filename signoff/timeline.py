"""The timeline of one run: what its caller saw and what the router did, side by side, in order of the clock."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Asked,
    Closed,
    Dialled,
    Executed,
    Greeted,
    Marked,
    Opened,
    Probed,
    Received,
    Rejected,
    Replied,
    Replying,
    Sighted,
    Striking,
    Struck,
    Unserved,
)
from suites.history import Outcome
from suites.run import Run

TOGETHER_NS = 1_000_000  # what the router does for one exchange within this time is one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What happened on one of the two sides: `at_ns` since the first line, and the ledger's entries that say so.

    after: it belongs to the check after healing. about: lines about the same thing may be joined.
    """

    at_ns: int
    entries: tuple[int, ...] = ()
    caller: str = ""
    router: str = ""
    after: bool = False
    about: tuple[str, int] | None = None


def timeline(run: Run) -> tuple[Line, ...]:
    """The events of the plan's operations and of what struck them; warm-up and connections of others left out."""
    lines = [line for outcome in run.history for line in _caller_lines(outcome, run)]
    lines += _router_lines(run)
    lines.sort(key=lambda line: line.at_ns)
    start = lines[0].at_ns if lines else 0
    return tuple(_joined(replace(line, at_ns=line.at_ns - start) for line in lines))


def told(run: Run) -> tuple[str, ...]:
    """What callers were told in words, one line for each operation that was told something."""
    return tuple(
        f"operation {outcome.operation}: {' '.join(outcome.says.split())}"
        for outcome in run.history
        if outcome.says and outcome.operation in run.operations
    )


def _caller_lines(outcome: Outcome, run: Run) -> Iterator[Line]:
    if outcome.operation not in (*run.operations, *run.fresh):
        return
    after = outcome.operation in run.fresh
    status = "" if outcome.status is None else f" {outcome.status}"
    ended = f"operation {outcome.operation}: {outcome.kind}{status} ({outcome.arrival})"
    yield Line(at_ns=outcome.invoked_at_ns, caller=f"operation {outcome.operation} ->", after=after)
    yield Line(at_ns=outcome.ended_at_ns, caller=ended, after=after)


def _router_lines(run: Run) -> Iterator[Line]:
    operation_of: dict[int, int] = {}  # exchange -> operation
    healed = False
    for entry in run.ledger:
        if isinstance(entry, Received) and entry.operation in (*run.operations, *run.fresh):
            operation_of[entry.exchange] = entry.operation
        if _is_wanted(entry, run, operation_of):
            operation = operation_of.get(getattr(entry, "exchange", None) or 0)
            after = operation in run.fresh or (healed and isinstance(entry, Marked))
            about = _about(entry)
            yield Line(at_ns=entry.at_ns, entries=(entry.seq,), router=describe(entry), after=after, about=about)
        healed = healed or (isinstance(entry, Marked) and entry.mark == "healed")


def _is_wanted(entry: AnyEntry, run: Run, operation_of: dict[int, int]) -> bool:
    match entry:
        case Accepted() | Executed() | Replying() | Replied():
            return entry.exchange in operation_of
        case (
            Received(operation=operation)
            | Unserved(operation=operation)
            | Striking(operation=operation)
            | Sighted(operation=operation)
        ):
            return operation in (*run.operations, *run.fresh) or operation is None
        case Probed() | Opened():
            return False
        case _:
            return True


def _about(entry: AnyEntry) -> tuple[str, int] | None:
    match entry:
        case Received() | Accepted() | Executed() | Replying() | Replied():
            return "exchange", entry.exchange
        case Striking():
            return "strike", entry.seq
        case Struck():
            return "strike", entry.striking
        case _:
            return None


def _joined(lines: Iterable[Line]) -> Iterator[Line]:
    """Neighbours about the same thing become one line."""
    last: Line | None = None
    for line in lines:
        if last is not None and last.about == line.about is not None and line.at_ns - last.at_ns < TOGETHER_NS:
            router = f"{last.router}, {line.router.partition(': ')[2]}"
            last = replace(last, entries=(*last.entries, *line.entries), router=router)
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def describe(entry: AnyEntry) -> str:
    """One entry in words; what may be joined to its neighbour begins with what it is about, and a colon."""
    match entry:
        case Opened() | Greeted() | Closed() | Unserved():
            return _of_connection(entry)
        case Received() | Accepted() | Executed() | Replying() | Replied():
            return f"exchange {entry.exchange}: {_of_exchange(entry)}"
        case Striking():
            upstream = "every upstream" if entry.upstream is None else f"upstream {entry.upstream}"
            where = "" if entry.connection is None else f", connection {entry.connection}"
            return f"strike: {entry.fault} on {upstream}{where}"
        case Struck():
            times = "" if entry.count == 1 else f", {entry.count} times"
            return f"strike: struck{times}, witness {entry.witness}"
        case Dialled():
            return f"dial of upstream {entry.upstream} {'refused' if entry.refused else 'dropped'}"
        case Sighted():
            what = "a probe" if entry.probe else f"a request of {entry.request_bytes} bytes"
            whose = "" if entry.operation is None else f", of operation {entry.operation}"
            return f"{what} was on its way to upstream {entry.upstream}{whose}"
        case Asked():
            return f"name of upstream {entry.upstream} asked for ({entry.question}): {entry.answer}"
        case Probed():
            return f"probe {entry.method} {entry.target} answered {entry.status}"
        case Rejected():
            return f"rejected with {entry.status}: {entry.why}"
        case Marked():
            return f"-- {entry.mark} --"
        case _:
            assert_never(entry)


def _of_connection(entry: Opened | Greeted | Closed | Unserved) -> str:
    match entry:
        case Opened():
            return f"connection {entry.connection} opened on upstream {entry.upstream}"
        case Greeted():
            whom = "nobody by name" if entry.server_name is None else repr(entry.server_name)
            return f"connection {entry.connection} begins TLS, and asks for {whom}"
        case Closed():
            return f"connection {entry.connection} ended by {entry.by}"
        case Unserved():
            return f"{entry.request_bytes} bytes on connection {entry.connection} never served"
        case _:
            assert_never(entry)


def _of_exchange(entry: Received | Accepted | Executed | Replying | Replied) -> str:
    match entry:
        case Received():
            reused = ", reused" if entry.nth > 1 else ""
            where = f"upstream {entry.upstream} (connection {entry.connection}{reused})"
            return f"operation {entry.operation} received on {where}"
        case Accepted():
            return "accepted"
        case Executed():
            return f"EXECUTED (execution {entry.execution})"
        case Replying():
            return f"answering {entry.status}"
        case Replied():
            return f"{entry.bytes_sent} bytes sent{'' if entry.whole else ', not all'}"
        case _:
            assert_never(entry)
