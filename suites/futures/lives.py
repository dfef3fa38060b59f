"""All operations, sessions and polls of a script, as its facts make them: which of them live, and what each is owed.
Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from faults.disturbance import Disturbing
from suites.futures.life import KEPT, Life, PollLife, SessionLife, State
from suites.futures.offer import Terms
from suites.futures.record import (
    Answered,
    AnyFact,
    Asked,
    Beaten,
    Began,
    Calmed,
    Disturbed,
    Ended,
    Kind,
    Landed,
    Left,
    Opened,
    Reached,
    Submitted,
)
from suites.tinker.open_call import Departure


@dataclass(slots=True)
class Lives:
    """All operations, sessions and polls of a script so far. disturbing: what is done to the container between the
    server and its routers, if anything is.
    """

    terms: Terms
    operations: dict[int, Life] = field(default_factory=dict)
    sessions: dict[int, SessionLife] = field(default_factory=dict)
    polls: dict[int, PollLife] = field(default_factory=dict)
    now_ms: int = 0
    disturbing: Disturbing | None = None

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
                if not self.terms.direct and fact.operation is not None and self.state_of(fact.operation) in KEPT:
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
            case Disturbed(how=how):
                self.disturbing = how
                for number, life in self.operations.items():
                    self.operations[number] = replace(life, struck=life.struck or life.landed_ms is None)
            case Calmed():
                self.disturbing = None
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
        first = Life(session=fact.session, struck=self.disturbing is not None)
        life = self.operations.setdefault(fact.operation, first)
        answer = fact.answer
        if fact.other is None and answer is not None and answer.kind is Kind.BUSY:
            self.operations[fact.operation] = replace(life, refused=True)
        if fact.other is not None or answer is None or answer.kind is not Kind.TAKEN:
            return
        first_id = life.first_id or answer.request_id
        self.operations[fact.operation] = replace(life, first_id=first_id, submits=life.submits + 1)

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
