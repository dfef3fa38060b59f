"""The sequence diagram of one run, as data: who sent what to whom, where it was accepted and executed, what struck."""

from collections.abc import Iterator
from typing import Literal

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Asked,
    Dialled,
    Executed,
    Received,
    Rejected,
    Replied,
    Replying,
    Striking,
    Unserved,
)
from faults.acts import Act
from faults.catalogue import fault_named
from faults.disturbance import Disturb, Whose
from faults.poison import Poison
from signoff.report import Step
from suites.history import Outcome
from suites.run import Run

CALLER, FORWARDER, TOXIPROXY, CONTAINER = "caller", "forwarder", "toxiproxy", "container"
MOST = 40  # steps of one diagram: more of them show nothing more
_Mark = Literal["", "strike", "accepted", "executed"]
_Timed = tuple[int, int, Step]  # of the machine's clock, in ns; its place among those of one instant; and the step


def diagram_of(run: Run) -> tuple[Step, ...]:
    """The steps of the plan's operations, in order of the clock; the first MOST of them."""
    numbers = {operation: place for place, operation in enumerate(run.operations, 1)}
    timed = [step for outcome in run.history if outcome.operation in numbers for step in _of_caller(outcome, numbers)]
    timed += _of_router(run, numbers)
    timed.sort(key=lambda each: each[:2])
    if not timed:
        return ()
    start_ns = timed[0][0]
    return tuple(_at(step, round((at_ns - start_ns) / 1e6)) for at_ns, _, step in timed[:MOST])


def _at(step: Step, ms: int) -> Step:
    return Step(ms, step.who, step.whom, step.says, step.mark, step.entries)


def _of_caller(outcome: Outcome, numbers: dict[int, int]) -> Iterator[_Timed]:
    name = f"operation {numbers[outcome.operation]}"
    status = "" if outcome.status is None else f" {outcome.status}"
    yield outcome.invoked_at_ns, 0, Step(0, CALLER, FORWARDER, name)
    yield outcome.ended_at_ns, 2, Step(0, FORWARDER, CALLER, f"{name}: {outcome.kind}{status} ({outcome.arrival})")


def _of_router(run: Run, numbers: dict[int, int]) -> Iterator[_Timed]:
    exchanges: dict[int, Received] = {}
    for entry in run.ledger:
        if isinstance(entry, Received) and entry.operation in numbers:
            exchanges[entry.exchange] = entry
        step = _step(entry, exchanges, numbers)
        if step is not None:
            yield entry.at_ns, 1, step


def _step(entry: AnyEntry, exchanges: dict[int, Received], numbers: dict[int, int]) -> Step | None:
    """What it is in the diagram; None for what belongs to no operation of the plan, or is told by another entry."""
    match entry:
        case Received() if entry.exchange in exchanges:
            reused = ", reused connection" if entry.nth > 1 else ""
            name = f"operation {numbers[entry.operation or 0]}, sending {entry.of_operation}{reused}"
            return _arrow(FORWARDER, _upstream(entry.upstream), name, entry)
        case Accepted() | Executed() | Replying() | Replied() if entry.exchange in exchanges:
            return _of_exchange(entry, exchanges[entry.exchange])
        case Striking():
            return _mark(_where(fault_named(entry.fault).act, entry.upstream), entry.fault, "strike", entry)
        case Dialled():
            how = "connect refused" if entry.refused else "SYN dropped"
            return _arrow(FORWARDER, _upstream(entry.upstream), how, entry)
        case Unserved(operation=operation) if operation is None or operation in numbers:
            return _arrow(FORWARDER, _upstream(entry.upstream), f"{entry.request_bytes} bytes, never served", entry)
        case Asked():
            return _arrow(FORWARDER, "names", f"{entry.question}: {entry.answer}", entry)
        case Rejected():
            return _arrow(_upstream(entry.upstream), FORWARDER, f"{entry.status}: {entry.why}", entry)
        case _:
            return None


def _of_exchange(entry: Accepted | Executed | Replying | Replied, received: Received) -> Step | None:
    upstream = _upstream(received.upstream)
    match entry:
        case Accepted():
            return _mark(upstream, "accepted", "accepted", entry)
        case Executed():
            return _mark(upstream, f"executed (execution {entry.execution})", "executed", entry)
        case Replying():
            return _arrow(upstream, FORWARDER, f"answers {entry.status}", entry)
        case Replied():
            return None if entry.whole else _mark(upstream, f"{entry.bytes_sent} bytes sent, not all", "", entry)


def _where(act: Act, upstream: int | None) -> str:
    """At whom it strikes."""
    if isinstance(act, Disturb):
        return FORWARDER if act.whose is Whose.FORWARDER else CONTAINER
    return TOXIPROXY if isinstance(act, Poison) else _upstream(upstream)


def _upstream(number: int | None) -> str:
    return "every upstream" if number is None else f"upstream {number}"


def _arrow(who: str, whom: str, says: str, entry: AnyEntry) -> Step:
    return Step(0, who, whom, says, "", (entry.seq,))


def _mark(who: str, says: str, mark: _Mark, entry: AnyEntry) -> Step:
    return Step(0, who, "", says, mark, (entry.seq,))
