"""What really happened to each operation: its attempts, in order, read off the ledger. Everything in an account
follows from entries alone; nothing is judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from fake_router.entries import Marked
from suites.attempts import Attempt, IdleStrike, View, view_in
from suites.bystanders import without_bystanders
from suites.reader import Reader
from suites.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """All that happened to one operation."""

    operation: int
    attempts: tuple[Attempt, ...] = ()

    @property
    def exchanges(self) -> dict[int, Attempt]:
        """The attempts that the router read, by their number among the operation's exchanges, from 1."""
        return {attempt.of_operation: attempt for attempt in self.attempts if attempt.of_operation is not None}

    @property
    def executions(self) -> tuple[Attempt, ...]:
        """The attempts that were executed."""
        return tuple(attempt for attempt in self.attempts if attempt.executed is not None)

    @property
    def accepted(self) -> tuple[Attempt, ...]:
        """The attempts that were accepted."""
        return tuple(attempt for attempt in self.attempts if attempt.accepted is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """The accounts of a run. strays: entries of sendings that belong to no known operation. idle: what was struck
    while no request was under way.
    """

    run: Run
    by_operation: Mapping[int, Account]
    strays: tuple[int, ...] = ()
    idle: tuple[IdleStrike, ...] = ()

    @property
    def view(self) -> View:
        """How the subject sees its routers."""
        return view_of(self.run)

    def of(self, operation: int) -> Account:
        """The account of that operation; an empty one if nothing happened to it."""
        return self.by_operation.get(operation) or Account(operation=operation)

    @property
    def planned(self) -> tuple[Account, ...]:
        """Those of the plan's operations, in the plan's order."""
        return tuple(self.of(operation) for operation in self.run.operations)

    @property
    def all(self) -> tuple[Account, ...]:
        """Those of every operation that the run sent: warm-ups, the plan's, and the fresh ones after healing."""
        numbers = (*self.run.warmups, *self.run.operations, *self.run.fresh)
        return tuple(self.of(operation) for operation in numbers)


def view_of(run: Run) -> View:
    """How the subject of that run sees its routers."""
    return view_in(run.plan, run.shortest_timeout_ms)


_latest: list[Accounts] = []  # every check of a run asks for the same accounts, one check after the other


def accounts_of(run: Run) -> Accounts:
    """The accounts of that run; those of the latest one are remembered, since they follow from it alone."""
    for latest in _latest:
        if latest.run is run:
            return latest
    accounts = _accounts_of(run)
    _latest[:] = [accounts]
    return accounts


def _accounts_of(run: Run) -> Accounts:
    """Every entry finds its attempt, and every attempt its operation, however late the entry comes.

    A sending whose content nobody read belongs to the plan's only operation if the plan has a faulty listener, or if
    the subject broke it off while that operation was in flight. One that was read and names no operation belongs to
    none: it may be an operation's, sent with its prompt rewritten.
    """
    reader = Reader.of(run.ledger, view_of(run))
    alone = run.operations[0] if len(run.operations) == 1 else None
    in_flight = _in_flight(run)
    found: dict[int, list[Attempt]] = {}
    strays = list(reader.rejected)
    for attempt in without_bystanders(reader.finished(), run):
        unread = attempt.operation is None and attempt.received is None
        its_own = run.plan.listeners or (attempt.body_came is not None and attempt.start in in_flight)
        operation = alone if unread and its_own else attempt.operation
        if operation is None:
            strays.append(attempt.start)
        else:
            found.setdefault(operation, []).append(replace(attempt, operation=operation))
    accounts = {
        operation: Account(operation=operation, attempts=_in_order(attempts)) for operation, attempts in found.items()
    }
    return Accounts(run=run, by_operation=accounts, strays=tuple(sorted(strays)), idle=tuple(reader.idle))


def _in_flight(run: Run) -> range:
    """The seqs from the arming of the plan until all that it caused had settled."""
    marks = [entry for entry in run.ledger if isinstance(entry, Marked)]
    armed = next((mark.seq for mark in marks if mark.mark == "armed"), 0)
    settled = next((mark.seq for mark in marks if mark.mark == "settled" and mark.seq > armed), armed)
    return range(armed, settled)


def _in_order(attempts: list[Attempt]) -> tuple[Attempt, ...]:
    ordered = sorted(attempts, key=lambda attempt: attempt.start)
    return tuple(replace(attempt, place=place) for place, attempt in enumerate(ordered, start=1))
