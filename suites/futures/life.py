"""The life of each operation as its callers can know it, and what a poll for it may be answered: the model that the
answers of a server are held against. Pure; it knows what the server must keep, never how.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from suites.futures.offer import Terms
from suites.futures.record import (
    Answered,
    AnyFact,
    Asked,
    Beaten,
    Began,
    Ended,
    Kind,
    Landed,
    Left,
    Opened,
    Reached,
    Submitted,
)
from suites.tinker.open_call import Departure


class State(StrEnum):
    """What of an operation must be retrievable."""

    NEVER = "never taken"  # no caller was given an id for it
    HELD = "in flight"  # the router has not answered
    UNDELIVERED = "undelivered"  # nobody can have got its result: it is kept for the long TTL
    DELIVERED = "possibly delivered"  # somebody may have: it is kept for the retrieved TTL
    STALE = "past its TTL"  # it may be gone, and may be there
    FORGOTTEN = "of another store"  # the store that knew it is gone: nothing may be known of it


CLOSE_MS = 1  # before the end of a TTL
KEPT = frozenset({State.UNDELIVERED, State.DELIVERED})

MAY_ANSWER: dict[State, frozenset[Kind]] = {
    State.NEVER: frozenset(),
    State.HELD: frozenset({Kind.TRY_AGAIN}),
    State.UNDELIVERED: frozenset({Kind.RESULT, Kind.FAILED}),
    State.DELIVERED: frozenset({Kind.RESULT, Kind.FAILED}),
    State.STALE: frozenset({Kind.RESULT, Kind.FAILED, Kind.GONE}),
    State.FORGOTTEN: frozenset({Kind.GONE}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One operation so far. first_id: what the first submit that was answered was given. landed_ms: when its result
    came. delivered_ms: when somebody may have got it, for the last time. interrupted: its server ended while it was in
    flight. unseen: pollers that are gone without a word, to which it is sent all the same. refused: there was no room
    for it once.
    """

    session: int
    first_id: str = ""
    submits: int = 0
    landed_ms: int | None = None
    delivered_ms: int | None = None
    interrupted: bool = False
    forgotten: bool = False
    unseen: int = 0
    refused: bool = False

    def ends_ms(self, terms: Terms) -> int | None:
        """Until when its outcome must be kept. TTLs are lower bounds: at its end it may be gone."""
        if self.landed_ms is None:
            return None
        if self.delivered_ms is not None:
            return self.delivered_ms + terms.retrieved_ms
        return self.landed_ms + terms.undelivered_ms

    def state(self, now_ms: int, terms: Terms) -> State:
        """What must be retrievable of it at that time."""
        if self.forgotten:
            return State.FORGOTTEN
        if not self.submits:
            return State.NEVER
        ends_ms = self.ends_ms(terms)
        if ends_ms is None:
            return State.HELD
        if now_ms >= ends_ms:
            return State.STALE
        return State.UNDELIVERED if self.delivered_ms is None else State.DELIVERED


@dataclass(slots=True)
class PollLife:
    """One poll so far. state: that of its operation when its reply came. ends_in_ms: how long that was to be kept."""

    asked: Asked
    left: Left | None = None
    reached: Reached | None = None
    answered: Answered | None = None
    state: State | None = None
    ends_in_ms: int | None = None
    over: bool = False  # the server that it was asked of is gone

    @property
    def waits(self) -> bool:
        """Its caller is still there, and nothing has come."""
        return self.left is None and self.reached is None and not self.over


@dataclass(slots=True)
class SessionLife:
    """One session so far. beaten_ms: when it was last heard of."""

    beaten_ms: int
    forgotten: bool = False


@dataclass(slots=True)
class Lives:
    """All operations, sessions and polls of a script so far."""

    terms: Terms
    operations: dict[int, Life] = field(default_factory=dict)
    sessions: dict[int, SessionLife] = field(default_factory=dict)
    polls: dict[int, PollLife] = field(default_factory=dict)
    now_ms: int = 0

    def take(self, fact: AnyFact) -> None:
        """One more fact."""
        self.now_ms = max(self.now_ms, fact.now_ms)
        match fact:
            case Opened(session=session, sampling_session=name) if name:
                self.sessions[session] = SessionLife(fact.now_ms)
            case Beaten(session=session, status=200) if session in self.sessions:
                self.sessions[session].beaten_ms = fact.now_ms
            case Submitted():
                self._submitted(fact)
            case Asked(poll=poll):
                self.polls[poll] = PollLife(fact)
                if not self.terms.direct:
                    self._delivered(fact, fact.now_ms)  # its reply may be lost on its way
            case Reached(poll=poll) | Answered(poll=poll):
                self._reached(fact)
            case Left(poll=poll):
                self._left(fact)
            case Landed(operation=operation):
                self._landed(operation, fact.now_ms)
            case Ended():
                self._ended(fact.now_ms)
            case Began(kept=kept):
                self._began(kept=kept)
            case _:
                pass

    def state_of(self, operation: int) -> State:
        """What must be retrievable of it now."""
        life = self.operations.get(operation)
        return State.NEVER if life is None else life.state(self.now_ms, self.terms)

    def was_refused(self, operation: int) -> bool:
        """There was no room for it, and it has not been taken since."""
        life = self.operations.get(operation)
        return life is not None and life.refused and not life.first_id

    def lives(self, session: int) -> bool:
        """The session is known to the server, and was heard of within its time."""
        life = self.sessions.get(session)
        return life is not None and not life.forgotten and self.now_ms < life.beaten_ms + self.terms.session_ms

    def _submitted(self, fact: Submitted) -> None:
        life = self.operations.setdefault(fact.operation, Life(session=fact.session))
        answer = fact.answer
        if fact.other is None and answer is not None and answer.kind is Kind.BUSY:
            self.operations[fact.operation] = replace(life, refused=True)
        if fact.other is not None or answer is None or answer.kind is not Kind.TAKEN:
            return
        first = life.first_id or answer.request_id
        self.operations[fact.operation] = replace(life, first_id=first, submits=life.submits + 1)

    def _reached(self, fact: Reached | Answered) -> None:
        """Whatever of its outcome was sent, somebody may have got. Past its TTL only a read answer tells whether it was
        there at all.
        """
        poll = self.polls[fact.poll]
        if poll.reached is None:
            self._owes(poll)
            poll.reached = Reached(poll=fact.poll, step=fact.step, now_ms=fact.now_ms)
            if poll.state in KEPT:
                self._delivered(poll.asked, fact.now_ms)
        if isinstance(fact, Answered):
            poll.answered = fact
            if fact.answer.kind in (Kind.RESULT, Kind.FAILED):
                if poll.state is State.HELD and not self.terms.clock and poll.asked.operation is not None:
                    self._landed(poll.asked.operation, poll.reached.now_ms)  # nobody else has told
                self._delivered(poll.asked, poll.reached.now_ms)

    def _owes(self, poll: PollLife) -> None:
        operation = poll.asked.operation
        if operation is None:
            return
        poll.state = self.state_of(operation)
        ends_ms = self.operations[operation].ends_ms(self.terms)
        poll.ends_in_ms = None if ends_ms is None else ends_ms - self.now_ms

    def _delivered(self, asked: Asked, now_ms: int) -> None:
        life = None if asked.operation is None else self.operations.get(asked.operation)
        if asked.operation is not None and life is not None and life.landed_ms is not None:
            latest_ms = now_ms if life.delivered_ms is None else max(now_ms, life.delivered_ms)
            self.operations[asked.operation] = replace(life, delivered_ms=latest_ms)

    def _left(self, fact: Left) -> None:
        """Who has left with FIN or RST, and has been seen to by quiescence, gets nothing; who has gone without a word,
        or while it lands, may be sent it.
        """
        poll = self.polls[fact.poll]
        poll.left = fact
        operation = poll.asked.operation
        life = None if operation is None else self.operations.get(operation)
        if operation is None or life is None or poll.reached is not None:
            return
        certain = self.terms.clock and self.terms.direct and not fact.crossing
        if fact.how is Departure.VANISH or not certain:
            self.operations[operation] = replace(life, unseen=life.unseen + 1)

    def _landed(self, operation: int, now_ms: int) -> None:
        life = self.operations.get(operation)
        if life is None or life.landed_ms is not None or life.forgotten:
            return
        delivered = now_ms if self._may_be_sent(operation) else None
        self.operations[operation] = replace(life, landed_ms=now_ms, delivered_ms=delivered)

    def _may_be_sent(self, operation: int) -> bool:
        """To somebody of whom nobody will know it: who is gone without a word, or whose reply is lost on its way."""
        lost = not self.terms.direct and any(
            poll.waits and poll.asked.operation == operation for poll in self.polls.values()
        )
        return lost or self.operations[operation].unseen > 0

    def _ended(self, now_ms: int) -> None:
        for number, life in self.operations.items():
            if life.landed_ms is None and not life.forgotten:
                delivered = now_ms if self._may_be_sent(number) else None
                self.operations[number] = replace(life, landed_ms=now_ms, delivered_ms=delivered, interrupted=True)

    def _began(self, *, kept: bool) -> None:
        for poll in self.polls.values():
            poll.over = poll.over or poll.reached is None
        if kept:
            return
        for number, life in self.operations.items():
            self.operations[number] = replace(life, forgotten=True)
        for session in self.sessions.values():
            session.forgotten = True


def lives_after(terms: Terms, facts: Iterable[AnyFact]) -> Lives:
    """What these facts amount to."""
    lives = Lives(terms)
    for fact in facts:
        lives.take(fact)
    return lives


def each_moment(terms: Terms, facts: Iterable[AnyFact]) -> Iterator[tuple[AnyFact, Lives]]:
    """Every fact, with what was known before it."""
    lives = Lives(terms)
    for fact in facts:
        lives.now_ms = max(lives.now_ms, fact.now_ms)
        yield fact, lives
        lives.take(fact)
