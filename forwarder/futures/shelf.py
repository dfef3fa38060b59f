"""Futures that run or are kept, and what became of the others. Nothing is dropped for room: only time ends a future."""

from collections.abc import Iterator

from forwarder.futures.entries import Delivered, Forgotten, OutcomeGone
from forwarder.futures.fates import Fates
from forwarder.futures.future import DueQueue, Future, held_bytes
from forwarder.futures.journal import Journal
from forwarder.futures.keys import Known
from forwarder.futures.limits import Ttl
from forwarder.futures.outcome import Outcome
from forwarder.futures.room import Room
from forwarder.futures.sessions import KEY_BYTES, SamplingSession, Session
from forwarder.futures.states import Event, State, after


class Shelf:
    """Every future by its counter, each kept one in the queue of its time."""

    def __init__(self, ttl: Ttl, room: Room, journal: Journal) -> None:
        self._futures: dict[int, Future] = {}
        self._room = room
        self._journal = journal
        self.fates = Fates(room, lambda first, last: journal.write(Forgotten(first, last)))
        self.undelivered = DueQueue(ttl.undelivered_ms)
        self.delivered = DueQueue(ttl.retrieved_ms)
        self.keys = 0
        self.evicted = 0
        self.expired = 0

    def __len__(self) -> int:
        return len(self._futures)

    def __iter__(self) -> Iterator[Future]:
        return iter(self._futures.values())

    def get(self, counter: int) -> Future | None:
        """One that runs or is kept."""
        return self._futures.get(counter)

    def add(self, counter: int, state: State, cost_bytes: int) -> Future:
        """A new one, whose cost has been taken."""
        future = self._futures[counter] = Future(counter, state, cost_bytes)
        self.fates.hold(counter)
        return future

    def withdraw(self, future: Future) -> None:
        """It never was."""
        future.happens(Event.WITHDRAWN)
        self._remove(future)

    def land(self, future: Future, outcome: Outcome, now_ms: int) -> None:
        """Its outcome may be told. What was reserved beyond it is free."""
        future.happens(Event.LANDED)
        self._room.give(future.cost_bytes)
        future.cost_bytes = held_bytes(outcome)
        self._room.take_anyway(future.cost_bytes)
        future.outcome = outcome
        self.undelivered.put(future, now_ms)
        future.wake()

    def deliver(self, future: Future, now_ms: int) -> None:
        """It was possibly delivered. Raises ImpossibleError for one that has not landed."""
        before = future.state
        future.happens(Event.POSSIBLY_DELIVERED)
        self._queue_of(before).drop(future)
        self.delivered.put(future, now_ms)
        if before is not State.DELIVERED:
            self._journal.write(Delivered(future.counter))

    def deliver_late(self, counter: int) -> None:
        """One whose outcome is gone was possibly delivered all the same."""
        old = self.fates.of(counter)
        new = after(old, Event.POSSIBLY_DELIVERED)
        if new is not old:
            self.fates.set(counter, new)
            self._journal.write(OutcomeGone(counter, new))

    def expire(self, future: Future) -> None:
        """Its time is over."""
        self._queue_of(future.state).drop(future)
        future.happens(Event.TTL_PASSED)
        if future.state is State.EVICTED:
            self.evicted += 1
        else:
            self.expired += 1
        self.fates.set(future.counter, future.state)
        self._journal.write(OutcomeGone(future.counter, future.state))
        self._remove(future)

    def first_due(self) -> Future | None:
        """Whose time is over first."""
        firsts = [first for queue in (self.undelivered, self.delivered) if (first := queue.first()) is not None]
        return min(firsts, key=lambda future: future.due_ms, default=None)

    def put_back(self, future: Future, outcome: Outcome, landed_ms: int, now_ms: int) -> None:
        """One that was kept before a restart; they come in the order in which they landed.

        Each is kept for at least the retrieved time from now: while the server was away, nobody could fetch it.
        """
        future.outcome = outcome
        if future.state is State.DELIVERED:
            self.delivered.put(future, now_ms)
        else:
            self.undelivered.put(future, max(landed_ms, now_ms + self.delivered.ttl_ms - self.undelivered.ttl_ms))

    def hold_key(self, sampling: SamplingSession, seq_id: int, known: Known) -> None:
        """The key, whose room has been taken, names that operation."""
        sampling.keys.put(seq_id, known)
        self.fates.hold(known.counter)
        self.keys += 1

    def drop_key(self, sampling: SamplingSession, seq_id: int, counter: int) -> None:
        """The key is as if it had never been used, unless its session has ended anyway."""
        if sampling.keys.drop(seq_id):
            self._room.give(KEY_BYTES)
            self.fates.release(counter)
            self.keys -= 1

    def forget_keys(self, session: Session) -> None:
        """Its session has ended. What runs or is kept stays; of the rest, only the newest fates."""
        for sampling in session.samplings:
            self.keys -= len(sampling.keys)
            self._room.give(KEY_BYTES * len(sampling.keys))
            self.fates.release_all(sampling.keys.counters)
            sampling.keys.clear()

    def _queue_of(self, state: State) -> DueQueue:
        return self.delivered if state is State.DELIVERED else self.undelivered

    def _remove(self, future: Future) -> None:
        del self._futures[future.counter]
        self._room.give(future.cost_bytes)
        self.fates.release(future.counter)
        future.wake()
