"""A naive model of a store of futures: everything is remembered for ever, and every answer is worked out from times."""

from dataclasses import dataclass, field

from forwarder.futures.limits import Ttl
from forwarder.futures.outcome import PENDING, Gone, Look, Outcome, Why
from forwarder.futures.recovery import LOST


@dataclass(slots=True, kw_only=True)
class ModelSession:
    """Its heartbeats."""

    id: str
    beat_ms: int
    samplings: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Operation:
    """What was submitted, and what happened to it."""

    id: str
    sampling: str
    seq_id: int
    content: bytes
    outcome: Outcome | None = None
    due_ms: int = 0
    delivered: bool = False
    fate: Why | None = None


class Model:
    """What a store must answer."""

    def __init__(self, ttl: Ttl, now_ms: int) -> None:
        self.ttl = ttl
        self.now_ms = now_ms
        self.sessions: dict[str, ModelSession] = {}
        self.operations: dict[str, Operation] = {}

    def lives(self, session_id: str) -> bool:
        """It has had a heartbeat within its time."""
        return self.now_ms < self.sessions[session_id].beat_ms + self.ttl.session_ms

    def session_of(self, sampling: str) -> ModelSession:
        """The one in which it was opened."""
        return next(session for session in self.sessions.values() if sampling in session.samplings)

    def known(self, sampling: str, seq_id: int) -> Operation | None:
        """What that key was first used for."""
        for operation in self.operations.values():
            if (operation.sampling, operation.seq_id) == (sampling, seq_id):
                return operation
        return None

    def land(self, operation: Operation, outcome: Outcome) -> None:
        """The first outcome counts."""
        if operation.outcome is None:
            operation.outcome = outcome
            operation.due_ms = self.now_ms + self.ttl.undelivered_ms

    def deliver(self, operation: Operation) -> None:
        """Possibly; also too late."""
        if operation.fate is None:
            operation.delivered = True
            operation.due_ms = self.now_ms + self.ttl.retrieved_ms
        else:
            operation.fate = Why.EVICTED

    def advance(self, by_ms: int) -> None:
        """Time goes on, and takes what is due."""
        self.now_ms += by_ms
        for operation in self.operations.values():
            if operation.outcome is not None and operation.fate is None and operation.due_ms <= self.now_ms:
                operation.fate = Why.EVICTED if operation.delivered else Why.EXPIRED

    def restart(self) -> None:
        """What ran is lost; what is kept is kept for long enough to be fetched."""
        for operation in self.operations.values():
            if operation.outcome is None:
                self.land(operation, LOST)
            elif operation.fate is None:
                floor_ms = self.now_ms + self.ttl.retrieved_ms
                operation.due_ms = floor_ms if operation.delivered else max(operation.due_ms, floor_ms)

    def look(self, operation: Operation) -> Look:
        """What is to be had."""
        if operation.fate is not None:
            return Gone(operation.fate)
        return PENDING if operation.outcome is None else operation.outcome
