"""One operation whose outcome is awaited or kept, and the queues in which outcomes wait to be dropped."""

from collections import OrderedDict

from forwarder.futures.outcome import Failed, Outcome, Sampled
from forwarder.futures.states import Event, State, after
from forwarder.futures.waiters import Waiters

FUTURE_BYTES = 640  # all that a future takes beside what its outcome holds
FAILED_BYTES = 2_304  # MOST_SAYS characters of ASCII and what holds them


class Future:
    """It moves by the table of states alone."""

    __slots__ = ("cost_bytes", "counter", "due_ms", "outcome", "state", "waiters")

    def __init__(self, counter: int, state: State, cost_bytes: int) -> None:
        self.counter = counter
        self.state = state
        self.cost_bytes = cost_bytes
        self.due_ms = 0
        self.outcome: Outcome | None = None
        self.waiters: Waiters[None] | None = None

    def happens(self, event: Event) -> None:
        """Move on. Raises ImpossibleError."""
        self.state = after(self.state, event)

    @property
    def waiting(self) -> int:
        """How many wait for it."""
        return len(self.waiters) if self.waiters is not None else 0

    async def wait(self) -> None:
        """Until it has landed, or is withdrawn."""
        if self.waiters is None:
            self.waiters = Waiters()
        await self.waiters.wait()

    def wake(self) -> None:
        """Let everybody go who waits."""
        if self.waiters is not None:
            self.waiters.wake(None)
            self.waiters = None


class DueQueue:
    """Futures in the order in which their time is over: each that comes gets the same time, so that none is sorted."""

    def __init__(self, ttl_ms: int) -> None:
        self.ttl_ms = ttl_ms
        self._futures: OrderedDict[int, Future] = OrderedDict()

    def __len__(self) -> int:
        return len(self._futures)

    def put(self, future: Future, from_ms: int) -> None:
        """Its time starts, or starts again."""
        future.due_ms = from_ms + self.ttl_ms
        self._futures[future.counter] = future
        self._futures.move_to_end(future.counter)

    def drop(self, future: Future) -> None:
        """It waits no longer."""
        del self._futures[future.counter]

    def first(self) -> Future | None:
        """Whose time is over first."""
        return next(iter(self._futures.values())) if self._futures else None


def reserved_bytes(cost_bytes: int) -> int:
    """What is set aside for an operation whose result takes at most cost_bytes: it may also fail."""
    return FUTURE_BYTES + max(cost_bytes, FAILED_BYTES)


def held_bytes(outcome: Outcome) -> int:
    """What a future with that outcome takes."""
    match outcome:
        case Sampled(payload):
            return FUTURE_BYTES + len(payload)
        case Failed():
            return FUTURE_BYTES + FAILED_BYTES
