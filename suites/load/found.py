"""What one load showed: what callers were told, what routers did, and what processes took meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from suites.load.asked import Load
from suites.load.ended import Records, Tally
from suites.load.limits import Layout
from suites.run import Promise


class Role(StrEnum):
    """Whose process it is."""

    SUBJECT = "subject"
    ROUTER = "router"
    CALLER = "caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What one process (and what it has started) takes at a moment. cpu_s: user and kernel, since its start.
    resident_bytes: without what it shares with others.
    """

    cpu_s: float
    resident_bytes: int
    sockets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look at everything. uses: of each process, in the order of `Found.processes`."""

    at_ns: int
    in_flight: int
    done: int
    failed: int
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One process of a load: the `nth` of its role, from 0."""

    role: Role
    nth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What the ledgers of all routers say together. received, executed, answered: exchanges. attempts, executions: of
    each operation, by its number (0 is nobody's); struck: whether a fault struck it; unprovable: whether that sent it
    what nobody can prove to be none of its results. beyond: operations in the ledgers
    with a number that no caller has used; unnamed: exchanges that carry no operation. faults: how often each struck.
    """

    received: int
    executed: int
    answered: int
    attempts: NDArray[np.uint32]
    executions: NDArray[np.uint32]
    struck: NDArray[np.bool_]
    unprovable: NDArray[np.bool_]
    beyond: int = 0
    unnamed: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All of it. idle: what each process of the subject took before the first connection, and then each of the routers.
    most_waiting: how many operations waited at the routers at the same time, as they said (held, burst,
    engine). died: which process of the subject ended by itself, and how. lost: which callers did, so that nobody knows
    what became of their operations. settled: nothing was open at the routers any more, and nothing came, when their
    ledgers were read. overlaid: the toxics that were asked for still lay there at the end. counts: of connections and
    polls.
    """

    load: Load
    promises: Promise
    layout: Layout
    tally: Tally
    account: Account
    processes: tuple[Member, ...]
    samples: tuple[Sample, ...]
    idle: tuple[Use, ...]
    most_in_flight: int
    most_waiting: int = 0
    died: tuple[str, ...] = ()
    settled: bool = True
    lost: tuple[str, ...] = ()
    overlaid: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)


def used_by(found: Found, role: Role, sample: Sample) -> Sequence[Use]:
    """What the processes of that role take at that moment."""
    return [use for member, use in zip(found.processes, sample.uses, strict=True) if member.role is role]


def peak_in_flight(records: Records) -> int:
    """How many of these operations were under way at the same time, at most."""
    if not len(records):
        return 0
    times = np.concatenate([records["ended_ns"], records["began_ns"]])
    steps = np.concatenate([np.full(len(records), -1), np.ones(len(records), int)])
    order = np.lexsort((steps, times))  # where one ends as another begins, it has ended
    return int(np.cumsum(steps[order]).max())
