"""A run whose faults did not strike proves nothing."""

from collections.abc import Iterator

from fake_router.entries import Striking, Struck, Witness
from faults.acts import BetweenAct, is_listener_act
from faults.catalogue import LETS_PASS, fault_named
from faults.plan import PlannedListener, PlannedOperation
from suites.accounts import Account, Accounts, accounts_of
from suites.attempts import Attempt, IdleStrike
from suites.checks.check import Check
from suites.checks.instrument import doubts, idle_doubts
from suites.checks.overlays import overlay_gaps
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def vacuity(run: Run) -> list[Finding]:
    """What the plan says must have happened, and nothing else. What did not happen is UNKNOWN, never FAIL."""
    accounts = accounts_of(run)
    found = [CHECK.cannot_know(says, entries, operation) for says, entries, operation in _gaps(run, accounts)]
    if found:
        return found
    strikes = sum(len(attempt.strikes) for account in accounts.planned for attempt in account.attempts)
    strikes += len(accounts.idle)
    return [CHECK.passes(f"{count_of(strikes, 'strike')}, each planned, witnessed and true to its fault")]


Gap = tuple[str, tuple[int, ...], int | None]  # what is missing, entries, operation


def _gaps(run: Run, accounts: Accounts) -> Iterator[Gap]:
    if not run.settled:
        why = f" ({run.busy})" if run.busy else ""
        yield f"the run had not settled when its ceiling ended it{why}", (), None
    if len(run.operations) != len(run.plan.operations):
        yield f"{len(run.operations)} operations were sent of {len(run.plan.operations)} planned", (), None
    if accounts.strays:
        yield "something arrived that belongs to no known operation", accounts.strays, None
    yield from missed_strikes(run, accounts)
    yield from _stayed(run)
    yield from overlay_gaps(run)
    for operation in run.fresh:
        if any(attempt.strikes for attempt in accounts.of(operation).attempts):
            yield f"fresh operation {operation} met a fault: nothing was healed", (), operation


def missed_strikes(run: Run, accounts: Accounts) -> Iterator[Gap]:
    """What the plan put in the way of its operations and was not met, or not as it should have been."""
    left = {outcome.operation for outcome in run.history if outcome.left}
    for planned, account in zip(run.plan.operations, accounts.planned, strict=False):
        for says in _operation_gaps(planned, account, alone=not run.plan.listeners):
            yield f"operation {account.operation}: {says}", (), account.operation
        for attempt in account.attempts:
            if account.operation in left and not attempt.struck and attempt.peer_left is not None:
                continue  # the subject stopped for its caller: what was to strike later met nobody
            for says in doubts(run, attempt):
                yield f"operation {account.operation}, {says}", attempt.entries, account.operation
    for idle in accounts.idle:
        for says in idle_doubts(idle):
            yield says, idle.entries, None
    for listener in run.plan.listeners:
        yield from _listener_gaps(run, accounts, listener)


def _listener_gaps(run: Run, accounts: Accounts, listener: PlannedListener) -> Iterator[Gap]:
    """It must have struck; where the plan asks for reused connections, a reused one first."""
    held = [attempt for account in accounts.planned for attempt in account.attempts if _held_by(listener, attempt)]
    if not held and not _waited(run, listener) and not any(_ended_by(listener, idle) for idle in accounts.idle):
        where = "any upstream" if listener.upstream is None else f"upstream {listener.upstream}"
        yield f"{listener.fault!r} did not strike on {where}", (), None
    if held and any(operation.reused for operation in run.plan.operations) and not held[0].opened_before:
        yield f"{listener.fault!r} struck a new connection first; expected a reused one", held[0].entries, None


def _stayed(run: Run) -> Iterator[Gap]:
    left = {outcome.operation for outcome in run.history if outcome.left}
    for planned, operation in zip(run.plan.operations, run.operations, strict=False):
        if planned.leaves is not None and operation not in left:
            yield f"operation {operation} was answered before its caller left", (), operation


def _operation_gaps(planned: PlannedOperation, account: Account, *, alone: bool) -> Iterator[str]:
    """An exchange that was made must have met its fault. The first must have been made, unless a faulty listener
    may have kept it from the router.
    """
    exchanges = account.exchanges
    for number in range(1, max(exchanges, default=0) + 1):
        expected = planned.faults[number - 1] if number <= len(planned.faults) else LETS_PASS.id
        attempt = exchanges.get(number)
        if attempt is None:
            yield f"its exchange {number} is not in the ledger"
        elif (says := _not_met(expected, attempt, planned)) is not None:
            yield f"{name_of(attempt)} (exchange {number}) {says}"
    if not exchanges and alone:
        yield f"no exchange was made, so {(planned.faults or (LETS_PASS.id,))[0]!r} did not strike"
    if planned.reused and alone and 1 in exchanges and exchanges[1].nth == 1:
        yield (
            "its first exchange came on a new connection; expected a reused one "
            "(a subject that keeps no connections to its upstreams says so: `reused` under [reach])"
        )


def _not_met(expected: str, attempt: Attempt, planned: PlannedOperation) -> str | None:
    if planned.leaves is not None and attempt.executed is None and attempt.peer_left is not None:
        return None  # its caller left while it was held, and the subject stopped before anything could happen
    if any(isinstance(strike.met.act, BetweenAct) for strike in attempt.strikes):
        return None  # what became of it is not the router's affair
    met = [strike.fault for strike in attempt.strikes if not is_listener_act(fault_named(strike.fault).act)]
    if fault_named(expected).lets_pass:
        if met not in ([], [expected]):
            return f"was struck by {met!r}; the plan lets it pass"
        return None if attempt.executed is not None else "was let pass, and was not executed"
    return None if met == [expected] else f"was not struck by {expected!r} alone (but by {met!r})"


def _waited(run: Run, listener: PlannedListener) -> bool:
    """A wait inside the subject is no attempt, nor is what a container kept from the router: its strike stands alone,
    and struck whoever was called while it lasted.

    This is the one place where times are compared: the caller's and the ledger's are those of one clock.
    """
    called = [outcome for outcome in run.history if outcome.operation in run.operations]
    begun = {entry.seq: entry for entry in run.ledger if isinstance(entry, Striking) and entry.fault == listener.fault}
    return any(
        begun[over.striking].at_ns < outcome.ended_at_ns and outcome.invoked_at_ns < over.at_ns
        for over in run.ledger
        if isinstance(over, Struck) and over.witness in (Witness.HELD, Witness.ENGINE) and over.striking in begun
        for outcome in called
    )


def _held_by(listener: PlannedListener, attempt: Attempt) -> bool:
    """The listener's fault struck this attempt."""
    there = listener.upstream is None or listener.upstream == attempt.upstream
    return there and any(strike.fault == listener.fault and strike.struck is not None for strike in attempt.strikes)


def _ended_by(listener: PlannedListener, idle: IdleStrike) -> bool:
    """The listener's fault struck this connection, which lay idle."""
    there = listener.upstream is None or listener.upstream == idle.upstream
    return there and idle.strike.fault == listener.fault and idle.strike.struck is not None


CHECK = Check(
    name="vacuity",
    claim=Claim.MUST,
    proof=Proof.CAUSE,
    invariant="Every fault that the plan put in the way has struck, has its witness, and did what it says.",
    judge=vacuity,
)
