"""What a caller may still ask for is there: results that nobody has got, and those that somebody may have got."""

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import FuturesCheck, must
from suites.futures.checks.seen import Seen, seen_in
from suites.futures.life import CLOSE_MS, KEPT, MAY_ANSWER, State
from suites.futures.record import Kind, Record

_WORDS = {
    State.UNDELIVERED: "nobody can have got its result",
    State.DELIVERED: "its result was possibly delivered, and within the retrieved TTL",
}


def undelivered(record: Record) -> list[Finding]:
    """A poll that was seen to be abandoned has not been delivered to."""
    return _kept(record, State.UNDELIVERED, UNDELIVERED)


def delivered(record: Record) -> list[Finding]:
    """The retrieved TTL begins again with each delivery that is possible."""
    return _kept(record, State.DELIVERED, DELIVERED)


def _kept(record: Record, state: State, check: FuturesCheck) -> list[Finding]:
    judged = [seen for seen in seen_in(record) if seen.state is state]
    found = [
        check.fails(f"{seen.where} was answered {_words(seen)}, while {_WORDS[state]}", operation=seen.operation)
        for seen in judged
        if seen.answer.kind not in MAY_ANSWER[state]
    ]
    if found or not judged:
        return found
    return [check.passes(count_of(len(judged), "poll"))]


def _words(seen: Seen) -> str:
    says = f" ({seen.answer.says})" if seen.answer.says else ""
    return f"{seen.answer.status} {seen.answer.kind}{says}"


UNDELIVERED = must(
    "undelivered-is-retrievable",
    "A result that nobody can have got is retrievable, for the undelivered TTL at least.",
    undelivered,
)
DELIVERED = must(
    "delivered-stays",
    "A result that was possibly delivered stays retrievable, for the retrieved TTL at least.",
    delivered,
)


def to_the_end(record: Record) -> list[Finding]:
    """What is asked for in the last moment of its TTL is there."""
    judged = [seen for seen in seen_in(record) if seen.state in KEPT and (seen.ends_in_ms or CLOSE_MS + 1) <= CLOSE_MS]
    found = [
        WHOLE_TTL.fails(
            f"{seen.where} was answered {_words(seen)}, {seen.ends_in_ms} ms before its TTL ends", (), seen.operation
        )
        for seen in judged
        if seen.state is not None and seen.answer.kind not in MAY_ANSWER[seen.state]
    ]
    if found or not judged:
        return found
    return [WHOLE_TTL.passes(count_of(len(judged), "poll"))]


WHOLE_TTL = must(
    "whole-ttl",
    "A result is retrievable until the last moment of its TTL.",
    to_the_end,
    needs_clock=True,
)


def too_early(record: Record) -> list[Finding]:
    """Before the router has answered there is nothing to say but "not yet". Of a server that does not tell when it is
    quiet nobody knows whether it has given up waiting for its router.
    """
    judged = [seen for seen in seen_in(record) if seen.state is State.HELD and record.terms.clock]
    found = [
        NOT_YET.fails(
            f"{seen.where} was answered {_words(seen)}, while the router had not answered", (), seen.operation
        )
        for seen in judged
        if seen.answer.kind is not Kind.TRY_AGAIN
    ]
    if found or not judged:
        return found
    return [NOT_YET.passes(count_of(len(judged), "poll"))]


NOT_YET = must(
    "not-yet",
    "A poll for what is in flight is told to try again, and nothing else.",
    too_early,
    needs_clock=True,
)
