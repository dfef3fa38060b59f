"""Lets go what is due: one timer, which waits for whatever is due first."""

from forwarder.futures.clock import Clock, Timer
from forwarder.futures.entries import SessionEnded
from forwarder.futures.journal import Journal
from forwarder.futures.room import Room
from forwarder.futures.sessions import SAMPLING_BYTES, SESSION_BYTES, Sessions
from forwarder.futures.shelf import Shelf

MOST_AT_ONCE = 1000  # in one turn of the loop: many outcomes may be due at the same moment


class Sweeper:
    """Whoever puts something on the shelf, or opens a session, arms it."""

    def __init__(self, *, clock: Clock, sessions: Sessions, shelf: Shelf, room: Room, journal: Journal) -> None:
        self._clock = clock
        self._sessions = sessions
        self._shelf = shelf
        self._room = room
        self._journal = journal
        self._timer: Timer | None = None
        self._stopped = False

    def arm(self) -> None:
        """Wait for what is due first. A timer that is too early finds nothing, and is set anew."""
        due_ms = self._first_due_ms()
        if due_ms is None or self._stopped:
            return
        if self._timer is not None and self._timer.is_set:
            if self._timer.due_ms <= due_ms:
                return
            self._timer.cancel()
        self._timer = self._clock.call_at(due_ms, self.sweep)

    def sweep(self) -> None:
        """Let go what is due; what is more than can be done at once, in the next turn of the loop."""
        now_ms = self._clock.now_ms()
        for _ in range(MOST_AT_ONCE):
            due_ms = self._first_due_ms()
            if due_ms is None or due_ms > now_ms:
                break
            self._drop_one(now_ms)
        self.arm()

    def stop(self) -> None:
        """No timer runs any more."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _first_due_ms(self) -> int | None:
        future = self._shelf.first_due()
        session_due_ms = self._sessions.first_due_ms()
        if future is None:
            return session_due_ms
        return future.due_ms if session_due_ms is None else min(future.due_ms, session_due_ms)

    def _drop_one(self, now_ms: int) -> None:
        """Of what is due: a session, or else a future."""
        session = self._sessions.pop_ended(now_ms)
        if session is not None:
            self._room.give(SESSION_BYTES + SAMPLING_BYTES * len(session.samplings))
            self._shelf.forget_keys(session)
            self._journal.write(SessionEnded(session.id))
        elif (future := self._shelf.first_due()) is not None:
            self._shelf.expire(future)
