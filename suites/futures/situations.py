"""What a script has really exercised: a suite in which nothing was abandoned proves nothing about abandoned polls."""

from collections import Counter
from collections.abc import Iterator

from suites.futures.life import CLOSE_MS, Life, PollLife, State
from suites.futures.lives import Lives, each_moment
from suites.futures.record import (
    Answered,
    AnyFact,
    Began,
    Disturbed,
    Ended,
    Kind,
    Landed,
    Left,
    Reached,
    Record,
    Submitted,
)
from suites.futures.struck import STRIKES
from suites.tinker.open_call import Departure

_WHEN = ("in flight", "crossing", "unread")
_AS_JSON = "result read as JSON"
_READ = {
    Kind.RESULT: "result read",
    Kind.FAILED: "failure read",
    Kind.GONE: "gone: read",
    Kind.TRY_AGAIN: "held to the end",
}
SITUATIONS = (
    "submitted",
    "reply lost at-once",
    "reply lost unread",
    "submitted by several at once",
    "re-sent in flight",
    "re-sent with its outcome kept",
    "re-sent past its TTL",
    "re-sent after its reply was lost",
    "re-sent with other content",
    "refused for want of room",
    "taken when there was room again",
    *(f"poll left by {how} {when}" for how in Departure for when in _WHEN),
    "landed with nobody there",
    "landed for one poller",
    "landed for several pollers",
    "landed after a poll was abandoned",
    *_READ.values(),
    _AS_JSON,
    "asked close before the undelivered TTL",
    "asked at the undelivered TTL or past it",
    "asked close before the retrieved TTL",
    "asked at the retrieved TTL or past it",
    "submit after its session had ended",
    "stranger's id",
    "terminated with polls waiting",
    "killed with polls waiting",
    "restarted on its store",
    "restarted without a store",
    "asked after it was interrupted",
    "asked after its store was lost",
)
OF_CONTAINERS = (  # only where there is one between the server and its routers
    *(f"in flight at a container's {how}" for how in STRIKES),
    "submitted while a container was struck",
)


def situations_in(record: Record) -> Counter[str]:
    """How often each of them came to pass."""
    found: Counter[str] = Counter()
    for fact, lives in each_moment(record.terms, record.facts):
        found.update(_situations(fact, lives))
    return found


def _situations(fact: AnyFact, lives: Lives) -> Iterator[str]:
    """lives: what was known before that fact."""
    match fact:
        case Submitted():
            yield from _of_submit(fact, lives)
        case Left(poll=poll):
            when = "crossing" if fact.crossing else "in flight" if lives.polls[poll].reached is None else "unread"
            yield f"poll left by {fact.how} {when}"
        case Landed(operation=operation):
            yield from _of_landing(operation, lives)
        case Reached(poll=poll):
            yield from _of_reply(lives.polls[poll], lives)
        case Answered(answer=answer, poll=poll):
            if poll < 0:
                yield "stranger's id"
            elif answer.kind in _READ:
                yield _READ[answer.kind]
                if answer.json:
                    yield _AS_JSON
        case Disturbed(how=how):
            if any(life.submits and life.landed_ms is None for life in lives.operations.values()):
                yield f"in flight at a container's {how}"
        case Ended(killed=killed):
            if any(life.waits for life in lives.polls.values()):
                yield f"{'killed' if killed else 'terminated'} with polls waiting"
        case Began(kept=kept):
            yield "restarted on its store" if kept else "restarted without a store"
        case _:
            pass


def _of_submit(fact: Submitted, lives: Lives) -> Iterator[str]:
    if fact.lost is not None:
        yield f"reply lost {fact.lost}"
    if fact.answer is not None and fact.answer.kind is Kind.BUSY:
        yield "refused for want of room"
    if fact.answer is not None and fact.answer.kind is Kind.TAKEN and lives.was_refused(fact.operation):
        yield "taken when there was room again"
    if lives.disturbing is not None and not fact.again:
        yield "submitted while a container was struck"
    if not lives.lives(fact.session):
        yield "submit after its session had ended"
    elif not fact.again:
        yield "submitted"
    elif fact.other is not None:
        yield "re-sent with other content"
    elif fact.at_once:
        yield "submitted by several at once"
    else:
        yield _again(lives.state_of(fact.operation))


def _again(state: State) -> str:
    match state:
        case State.NEVER:
            return "re-sent after its reply was lost"
        case State.HELD:
            return "re-sent in flight"
        case State.UNDELIVERED | State.DELIVERED:
            return "re-sent with its outcome kept"
        case State.STALE | State.FORGOTTEN:
            return "re-sent past its TTL"


def _of_landing(operation: int, lives: Lives) -> Iterator[str]:
    polls = [poll for poll in lives.polls.values() if poll.asked.operation == operation]
    waiting = sum(poll.waits for poll in polls)
    yield "landed " + ("with nobody there", "for one poller", "for several pollers")[min(waiting, 2)]
    if any(poll.left is not None for poll in polls):
        yield "landed after a poll was abandoned"


def _of_reply(poll: PollLife, lives: Lives) -> Iterator[str]:
    operation = poll.asked.operation
    life = None if operation is None else lives.operations.get(operation)
    if life is None:
        return
    if life.forgotten:
        yield "asked after its store was lost"
    elif life.landed_ms is not None:
        if life.interrupted:
            yield "asked after it was interrupted"
        yield from _near_its_end(life, lives)


def _near_its_end(life: Life, lives: Lives) -> Iterator[str]:
    ends_ms = life.ends_ms(lives.terms)
    assert ends_ms is not None
    which = "undelivered" if life.delivered_ms is None else "retrieved"
    if ends_ms <= lives.now_ms:
        yield f"asked at the {which} TTL or past it"
    elif ends_ms <= lives.now_ms + CLOSE_MS:
        yield f"asked close before the {which} TTL"
