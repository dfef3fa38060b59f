"""A submit whose acceptance is being written, and all who submit the same meanwhile."""

from forwarder.futures.future import Future
from forwarder.futures.sessions import SamplingSession
from forwarder.futures.waiters import Waiters


class Acceptance:
    """Of those who submitted it, the first who is still there when it is durable runs it.

    is_settled: it is durable, or `error` says why it will not be. is_abandoned: all who submitted it have left.
    """

    __slots__ = ("error", "future", "is_abandoned", "is_settled", "sampling", "seq_id", "submitters", "waiters")

    def __init__(self, future: Future, sampling: SamplingSession, seq_id: int) -> None:
        self.future = future
        self.sampling = sampling
        self.seq_id = seq_id
        self.is_settled = False
        self.is_abandoned = False
        self.error: str | None = None
        self.submitters = 0
        self.waiters: Waiters[None] = Waiters()

    @property
    def counter(self) -> int:
        """Of the operation."""
        return self.future.counter
