"""Nothing waits for ever, and who has left leaves nothing behind."""

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.life import PollLife, State
from suites.futures.lives import Lives
from suites.futures.record import Counted, Ended, Hung, Record, Silent
from suites.tinker.open_call import Departure

_WELL = "exited with code 0"
_BY_WHAT_IT_WAS_TOLD = "was killed by SIGTERM"  # as uvicorn does, which raises it anew when all is over


def nobody_waits(record: Record) -> list[Finding]:
    """At quiescence a poll waits only for what is in flight, and no longer than it is held."""
    lives = Lives(record.terms)
    found: dict[int, Finding] = {}
    for fact in record.facts:
        lives.take(fact)
        if isinstance(fact, Counted):
            for poll, life in lives.polls.items():
                lost = not record.terms.direct and not fact.waiting.get(life.asked.request_id)
                if not lost and (says := _waits(life, lives)) is not None:
                    says = f"step {fact.step}: poll {poll} still waits: {says}"
                    found.setdefault(poll, NOBODY_WAITS.fails(says, (), life.asked.operation))
        elif isinstance(fact, Silent):
            says = f"step {fact.step}: poll {fact.poll} got nothing, although its operation had landed"
            if record.terms.direct and lives.polls[fact.poll].asked.operation is not None:
                found.setdefault(fact.poll, NOBODY_WAITS.fails(says, (), lives.polls[fact.poll].asked.operation))
    judged = {poll for poll, life in lives.polls.items() if life.reached is not None and life.left is None}
    if found or not judged:
        return list(found.values())
    return [NOBODY_WAITS.passes(f"{count_of(len(judged), 'poll')} answered in time")]


def _waits(poll: PollLife, lives: Lives) -> str | None:
    """Why it should wait no more; None where it may."""
    if not poll.waits:
        return None
    operation = poll.asked.operation
    state = None if operation is None else lives.state_of(operation)
    if state is not State.HELD:
        return "nobody was given its id" if state is None else f"its operation is {state}"
    if lives.now_ms >= poll.asked.now_ms + lives.terms.hold_ms:
        return f"it was held for {lives.now_ms - poll.asked.now_ms} ms; expected at most {lives.terms.hold_ms}"
    return None


NOBODY_WAITS = must(
    "nobody-waits",
    "All who wait for an operation are answered when it lands, and told to try again when they were held long enough.",
    nobody_waits,
)


def nothing_left_behind(record: Record) -> list[Finding]:
    """A waiter whose caller was seen to leave is gone: overlapping polls pile up else."""
    judged, found = 0, []
    lives = Lives(record.terms)
    for fact in record.facts if record.terms.direct else ():
        lives.take(fact)
        if not isinstance(fact, Counted):
            continue
        for request_id, waiting in fact.waiting.items():
            most = sum(_may_wait(poll) for poll in lives.polls.values() if poll.asked.request_id == request_id)
            if waiting > most:
                says = f"step {fact.step}: {waiting} wait for {request_id!r}; expected {most} at most: the others left"
                found.append(NOTHING_LEFT_BEHIND.fails(says))
        judged += any(poll.left is not None for poll in lives.polls.values())
    if found or not judged:
        return found[:1]
    return [NOTHING_LEFT_BEHIND.passes(f"{count_of(judged, 'moment')} after a caller had left")]


def _may_wait(poll: PollLife) -> bool:
    gone = poll.left is not None and poll.left.how is not Departure.VANISH
    return not gone and not poll.over and poll.reached is None


NOTHING_LEFT_BEHIND = must(
    "nothing-left-behind",
    "A poll whose caller was seen to leave waits no more.",
    nothing_left_behind,
    needs_clock=True,
)


def ends(record: Record) -> list[Finding]:
    """A server that is told to end does so, with whatever it has in flight."""
    ended = [fact for fact in record.facts if isinstance(fact, Ended) and not fact.killed]
    found = [
        ENDS.fails(f"step {fact.step}: after SIGTERM it {fact.how or 'did not end'}; expected that it {_WELL}")
        for fact in ended
        if fact.how not in (_WELL, _BY_WHAT_IT_WAS_TOLD)
    ]
    if found or not ended:
        return found
    return [ENDS.passes(count_of(len(ended), "shutdown"))]


ENDS = must("ends", "Told to end, the server ends, whoever waits.", ends, needs_restart=True)


def comes_to_rest(record: Record) -> list[Finding]:
    """It promises an answer: what it does not do by itself is never done."""
    hung = [fact for fact in record.facts if isinstance(fact, Hung)]
    rested = sum(isinstance(fact, Counted) for fact in record.facts)
    if hung or not rested:
        return [COMES_TO_REST.fails(f"step {fact.step}: {fact.says}") for fact in hung]
    return [COMES_TO_REST.passes(f"after {count_of(rested, 'step')}")]


COMES_TO_REST = must(
    "comes-to-rest",
    "After each step the server comes to rest: nothing but its callers, its router and its clock is waited for.",
    comes_to_rest,
    needs_clock=True,
)
