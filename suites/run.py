"""A finished run: all that a check may look at. Checks open nothing and start nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fake_router.entries import AnyEntry
from faults.evidence import NO_CONTRACT, Contract
from faults.plan import Plan
from suites.history import Outcome


class Promise(StrEnum):
    """What a subject says it is; each promises more than the one before."""

    TRANSPARENT = "transparent"  # faithful bytes, and a cut answer looks cut where its framing could show it
    ANSWERING = "answering"  # success means a valid answer, every operation gets one, failures do not lie
    FUTURES = "futures"  # and results stay retrievable


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectFacts:
    """What a subject says about itself, as far as a judgement depends on it.

    attempts: within how many sendings it should overcome a safe failure (the budget of the should check). called: there
    is no connection from its caller, who calls it in its own process. rewrites: it reads a request and writes it anew.
    """

    name: str
    promises: Promise
    contract: Contract = NO_CONTRACT
    attempts: int = 2
    called: bool = False
    rewrites: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sockets:
    """Open sockets from the subject to the upstream to which it holds most: what a healthy subject may hold at the
    plan's concurrency, and what it holds after healing. None: not measured. again: where that is more, what it held
    each time when the same had happened again on the same instance. elsewhere: the subject runs where this machine's
    kernel cannot count them.
    """

    warm: int | None = None
    healed: int | None = None
    again: tuple[int, ...] = ()
    elsewhere: bool = False

    @property
    def beyond_health(self) -> bool:
        """It holds more than in good health."""
        return self.warm is not None and self.healed is not None and self.healed > self.warm


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One plan lived through by one subject.

    operations: the ids in the content of the plan's operations, in the plan's order. warmups: those of the healthy
    ones sent before arming. fresh: those sent after healing. settled: the subject was idle, or quiet, before the
    ceiling. busy: what it last said of itself where it was not, if it is asked. died: how the subject's process
    ended by itself, if it did. company: other runs shared the subject while this one was going on. overlaid: what the
    plan lays over its hops still lay there when it was over. stalled_ms: the longest time by which a loop of ours came
    late meanwhile, or an engine that was to do something in time; shortest_timeout_ms: what that has to be held
    against.
    between: of a subject that is two, one behind the other, how often each operation was sent from one to the other.
    unreachable: why the subject or the machine cannot reach this run's faults (then nothing was run).
    """

    plan: Plan
    subject: SubjectFacts
    operations: tuple[int, ...]
    ledger: tuple[AnyEntry, ...]
    history: tuple[Outcome, ...]
    warmups: tuple[int, ...] = ()
    fresh: tuple[int, ...] = ()
    sockets: Sockets = Sockets()
    settled: bool = True
    busy: str = ""
    died: str | None = None
    company: bool = False
    overlaid: bool = True
    stalled_ms: float = 0.0
    shortest_timeout_ms: int = 300
    between: Mapping[int, int] | None = None
    unreachable: str | None = None
