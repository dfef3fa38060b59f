"""The futures of a server: accepted once, run once, and kept until they were fetched or their time is over.

A store belongs to one loop. What it answers is a function of what was done and of the clock, never of when a timer ran.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from forwarder.futures.clock import Clock
from forwarder.futures.counts import Counts
from forwarder.futures.entries import Entry, Finished, Heartbeat, Recovered, SamplingOpened, SessionOpened
from forwarder.futures.errors import ClosedError, FullError, JournalError
from forwarder.futures.future import Future, reserved_bytes
from forwarder.futures.ids import fresh_number, fresh_session_id
from forwarder.futures.journal import Journal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import PENDING, Failed, Gone, Look, Outcome, Pending, Why
from forwarder.futures.recovery import LOST, restore
from forwarder.futures.room import Room
from forwarder.futures.sessions import SAMPLING_BYTES, SESSION_BYTES, SamplingSession, Sessions
from forwarder.futures.shelf import Shelf
from forwarder.futures.states import KEPT, Event, State
from forwarder.futures.submits import Submits, Submitted
from forwarder.futures.sweeper import Sweeper

_WHY = {State.EVICTED: Why.EVICTED, State.EXPIRED: Why.EXPIRED, State.FORGOTTEN: Why.FORGOTTEN}


class Futures:
    """Use `open`; close it by `shut_down`. room: what it holds, and may hold; callers' bodies take some of it too."""

    def __init__(self, *, clock: Clock, journal: Journal, ttl: Ttl, limits: Limits, recovered: Recovered) -> None:
        self._clock = clock
        self._journal = journal
        self._identity = recovered.identity
        self.room = Room(limits)
        self._sessions = Sessions(ttl.session_ms)
        self._shelf = Shelf(ttl, self.room, journal)
        self._submits = Submits(
            identity=recovered.identity,
            next_counter=recovered.next_counter,
            shelf=self._shelf,
            room=self.room,
            journal=journal,
        )
        self._sweeper = Sweeper(
            clock=clock, sessions=self._sessions, shelf=self._shelf, room=self.room, journal=journal
        )
        self._lost = restore(
            recovered, sessions=self._sessions, shelf=self._shelf, room=self.room, now_ms=clock.now_ms()
        )

    @classmethod
    async def open(cls, *, clock: Clock, journal: Journal, ttl: Ttl, limits: Limits) -> Self:
        """The store with everything its journal holds. What was in flight has failed: "unknown, may have run".

        Raises JournalError for a journal that cannot be read, or is in use.
        """
        recovered = journal.load()
        try:
            futures = cls(clock=clock, journal=journal, ttl=ttl, limits=limits, recovered=recovered)
        except JournalError:  # in the midst of its rows
            await journal.close()
            raise
        lost, futures._lost = futures._lost, []
        for landed in [futures._land(future, LOST) for future in lost]:
            await landed
        futures._sweeper.sweep()
        return futures

    async def create_session(self) -> str:
        """The id of a new session. Raises FullError, JournalError."""
        self._refuse_when_closed()
        self._sweeper.sweep()
        self.room.take(SESSION_BYTES)
        session_id = fresh_session_id()
        now_ms = self._clock.now_ms()
        self._sessions.open(session_id, now_ms)
        self._sweeper.arm()
        try:
            await self._durable(SessionOpened(session_id, now_ms))
        except JournalError:
            if self._sessions.drop(session_id) is not None:
                self.room.give(SESSION_BYTES)
            raise
        return session_id

    async def create_sampling_session(self, session_id: str, model: str) -> str:
        """The id of a new sampling session. Raises UnknownSessionError, FullError, JournalError."""
        self._refuse_when_closed()
        self._sweeper.sweep()
        number = fresh_number()
        sampling = self._sessions.open_sampling(number, session_id, model, self._clock.now_ms())
        try:
            self.room.take(SAMPLING_BYTES)
        except FullError:
            self._sessions.drop_sampling(sampling)
            raise
        try:
            await self._durable(SamplingOpened(number, session_id, model))
        except JournalError:
            if self._sessions.drop_sampling(sampling):
                self.room.give(SAMPLING_BYTES)
            raise
        return sampling.id

    def sampling_session(self, sampling_session_id: str) -> SamplingSession:
        """Its model, and more. Raises UnknownSessionError."""
        return self._sessions.sampling(sampling_session_id, self._clock.now_ms())

    async def heartbeat(self, session_id: str) -> None:
        """The session lives for another session_ms; this is durable if it can be. Raises UnknownSessionError."""
        now_ms = self._clock.now_ms()
        self._sessions.beat(session_id, now_ms)
        with suppress(JournalError):  # in memory it counts; the next one is written as well
            await self._durable(Heartbeat(session_id, now_ms))

    async def submit(self, key: Key, digest: bytes, cost_bytes: int, request_bytes: int = 0) -> Submitted:
        """The id of the operation with that key, durable. Who gets it `fresh` runs it, and nobody else.

        digest: of the canonical content. cost_bytes: what its result takes at most. request_bytes: what is
        held of it until it has landed. Raises UnknownSessionError, OtherContentError, FullError, TooLargeError,
        JournalError: then nothing may run.
        """
        self._sweeper.sweep()
        sampling = self.sampling_session(key.sampling_session_id)
        return await self._submits.submit(sampling, key.seq_id, digest, reserved_bytes(cost_bytes) + request_bytes)

    async def resolve(self, request_id: str, outcome: Outcome) -> None:
        """The operation has come to that; the first outcome counts. Returns when it is durable, if it can be.

        Polls are told it only then: what was told once is never different after a crash.
        """
        future = self._future(request_id)
        if future is not None and future.state is State.PENDING:
            future.happens(Event.RESOLVED)
            await self._land(future, outcome)

    def look(self, request_id: str) -> Look:
        """What is to be had for this id now."""
        future = self._future(request_id)
        if future is None:
            return self._gone(request_id)
        if future.state is State.ACCEPTING:
            return Gone(Why.FOREIGN)
        if future.state not in KEPT or future.outcome is None:
            return PENDING
        return future.outcome

    async def landed(self, request_id: str) -> Outcome | Gone:
        """Waits until there is something to be had, however long. Many may wait for one id; any may be cancelled."""
        while isinstance(found := self.look(request_id), Pending):
            future = self._future(request_id)
            assert future is not None
            await future.wait()
        return found

    def possibly_delivered(self, request_id: str) -> None:
        """An answer with its outcome was sent and not seen to fail: the retrieved time starts, or starts again."""
        future = self._future(request_id)
        if future is not None:
            self._shelf.deliver(future, self._clock.now_ms())
            self._sweeper.arm()
            return
        counter = self._identity.counter_of(request_id)
        if counter is not None:
            self._shelf.deliver_late(counter)

    def waiting(self) -> dict[str, int]:
        """How many wait for each id."""
        return {self._identity.id_of(future.counter): n for future in self._shelf if (n := future.waiting)}

    @property
    def counts(self) -> Counts:
        """Now."""
        undelivered, delivered = len(self._shelf.undelivered), len(self._shelf.delivered)
        return Counts(
            in_flight=len(self._shelf) - undelivered - delivered,
            undelivered=undelivered,
            delivered=delivered,
            evicted=self._shelf.evicted,
            expired=self._shelf.expired,
            stored_bytes=self.room.taken_bytes,
            sessions=len(self._sessions),
            keys=self._shelf.keys,
            unwritten=self._journal.unwritten,
        )

    @property
    def broken(self) -> JournalError | None:
        """What it is told from now on a crash would forget: its journal broke down, by a defect."""
        return self._journal.broken

    def accept_nothing_more(self) -> None:
        """From now on new keys and sessions are refused with ClosedError; all else is answered as before."""
        self._submits.closed = True

    async def shut_down(self, says: Callable[[str], Failed]) -> None:
        """Accept nothing more, give every pending operation the outcome that `says` has for its id, and write it all.

        What is kept can be looked at still, and whoever waits is woken.
        """
        self.accept_nothing_more()
        for future in list(self._shelf):
            if future.state is State.PENDING and self._submits.is_running(future.counter):
                future.happens(Event.RESOLVED)
                self._land(future, says(self._identity.id_of(future.counter)))
        await asyncio.sleep(0)  # who was to be told of an acceptance takes it back
        await self._journal.close()
        self._sweeper.stop()

    def _refuse_when_closed(self) -> None:
        if self._submits.closed:
            raise ClosedError("the server is shutting down and accepts nothing more")

    def _future(self, request_id: str) -> Future | None:
        """One that runs or is kept. One whose time is over is dropped when it is looked for."""
        counter = self._identity.counter_of(request_id)
        future = None if counter is None else self._shelf.get(counter)
        if future is not None and future.state in KEPT and future.due_ms <= self._clock.now_ms():
            self._shelf.expire(future)
            return None
        return future

    def _gone(self, request_id: str) -> Gone:
        counter = self._identity.counter_of(request_id)
        if counter is None or not 1 <= counter < self._submits.next_counter:
            return Gone(Why.FOREIGN)
        return Gone(_WHY[self._shelf.fates.of(counter)])

    def _land(self, future: Future, outcome: Outcome) -> asyncio.Future[None]:
        """Write down its outcome, and then let it be told: from memory alone if it cannot be written."""
        now_ms = self._clock.now_ms()
        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def land(_: JournalError | None) -> None:
            self._shelf.land(future, outcome, now_ms)
            self._sweeper.arm()
            if not landed.done():
                landed.set_result(None)

        self._journal.write(Finished(future.counter, now_ms, outcome), land)
        return landed

    async def _durable(self, entry: Entry) -> None:
        """Raises JournalError."""
        written: asyncio.Future[JournalError | None] = asyncio.get_running_loop().create_future()
        self._journal.write(entry, lambda error: None if written.done() else written.set_result(error))
        error = await written
        if error is not None:
            raise error
