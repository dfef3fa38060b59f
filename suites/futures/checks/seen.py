"""What callers got for their polls, each beside what the server owed it at that moment."""

from dataclasses import dataclass

from suites.futures.life import PollLife, State
from suites.futures.lives import Lives, lives_after
from suites.futures.record import Answer, Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The answer to one poll. came: the step after which it lay in its caller's socket buffer; step: that in which it
    was read. state: that of its operation when it came; None: it asked for a stranger's id. ends_in_ms: how long what
    it asked for had to be kept then.
    """

    poll: int
    came: int
    step: int
    request_id: str
    operation: int | None
    state: State | None
    answer: Answer
    ends_in_ms: int | None = None

    @property
    def where(self) -> str:
        """As findings name it."""
        whose = (
            f"{self.request_id!r}, which nobody was given" if self.operation is None else f"operation {self.operation}"
        )
        return f"step {self.step}: poll {self.poll} for {whose}"


def seen_in(record: Record) -> tuple[Seen, ...]:
    """Every whole answer to a poll, in the order in which the polls were made."""
    return tuple(_seen(poll) for poll in _all(record).polls.values() if _is_whole(poll))


def results_in(record: Record) -> dict[int, list[Seen]]:
    """The results that were read, by operation."""
    found: dict[int, list[Seen]] = {}
    for seen in seen_in(record):
        if seen.answer.kind is Kind.RESULT and seen.operation is not None:
            found.setdefault(seen.operation, []).append(seen)
    return found


def _all(record: Record) -> Lives:
    return lives_after(record.terms, record.facts)


def _is_whole(poll: PollLife) -> bool:
    return poll.answered is not None and poll.answered.answer.kind is not Kind.NOTHING


def _seen(poll: PollLife) -> Seen:
    assert poll.answered is not None
    assert poll.reached is not None
    return Seen(
        poll=poll.asked.poll,
        came=poll.reached.step,
        step=poll.answered.step,
        request_id=poll.asked.request_id,
        operation=poll.asked.operation,
        state=poll.state,
        ends_in_ms=poll.ends_in_ms,
        answer=poll.answered.answer,
    )
