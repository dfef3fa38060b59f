"""The key of an operation, its session and sequence number, is the one that its caller can repeat."""

from collections.abc import Iterator

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.life import Life
from suites.futures.lives import each_moment
from suites.futures.record import Kind, Record, Submitted

UNPROCESSABLE = 422  # RFC 9110 s15.5.21; the SDK re-sends on 409 for ever


def first_id(record: Record) -> list[Finding]:
    """Also when the result is delivered and evicted; as long as the session lives."""
    judged, found = 0, []
    for fact, life, lives in _again(record):
        answer = fact.answer
        if answer is None or not life.first_id or fact.other is not None:
            continue
        if answer.kind is Kind.NOTHING and not record.terms.direct:
            continue  # lost on the way
        if not lives and answer.kind is not Kind.TAKEN:
            continue  # the session may have ended, and its keys with it
        judged += 1
        if answer.kind is not Kind.TAKEN:
            says = f"was answered {answer.status} ({answer.says}); expected the first id {life.first_id!r}"
        elif answer.request_id != life.first_id:
            says = f"was given {answer.request_id!r}; the first was given {life.first_id!r}"
        else:
            continue
        found.append(FIRST_ID.fails(f"step {fact.step}: a re-sent submit {says}", (), fact.operation))
    if found or not judged:
        return found
    return [FIRST_ID.passes(count_of(judged, "re-sent submit"))]


FIRST_ID = must(
    "first-id",
    "A submit that is sent again gets the first request id, as long as its session lives.",
    first_id,
)


def other_content(record: Record) -> list[Finding]:
    """A key stands for one content."""
    judged, found = 0, []
    for fact, life, lives in _again(record):
        answer = fact.answer
        if answer is None or fact.other is None or not life.first_id or not lives:
            continue
        judged += 1
        if answer.status != UNPROCESSABLE:
            says = f"step {fact.step}: other content ({fact.other}) under the same key was answered {answer.status}"
            found.append(OTHER_CONTENT.fails(f"{says}; expected {UNPROCESSABLE}", (), fact.operation))
    if found or not judged:
        return found
    return [OTHER_CONTENT.passes(count_of(judged, "submit"))]


OTHER_CONTENT = must(
    "other-content",
    "Other content under a key that is taken is refused with 422.",
    other_content,
)


def fresh_taken(record: Record) -> list[Finding]:
    """A first submit in a session that lives is taken, or refused for want of room; nothing else."""
    judged, found = 0, []
    for fact, lives in each_moment(record.terms, record.facts):
        if not isinstance(fact, Submitted) or fact.again or fact.answer is None or not lives.lives(fact.session):
            continue
        if fact.answer.kind is Kind.NOTHING and not record.terms.direct:
            continue  # lost on the way
        judged += 1
        if fact.answer.kind not in (Kind.TAKEN, Kind.BUSY):
            says = f"step {fact.step}: a first submit was answered {fact.answer.status} ({fact.answer.says})"
            found.append(FRESH_TAKEN.fails(says, (), fact.operation))
    if found or not judged:
        return found
    return [FRESH_TAKEN.passes(count_of(judged, "submit"))]


FRESH_TAKEN = must(
    "fresh-taken",
    "A first submit in a session that lives is taken, or told to come back when there is room.",
    fresh_taken,
)


def _again(record: Record) -> Iterator[tuple[Submitted, Life, bool]]:
    """Every submit under a key that was used before, with the operation's life until then, and whether its session
    lives.
    """
    for fact, lives in each_moment(record.terms, record.facts):
        if isinstance(fact, Submitted) and fact.again and fact.operation in lives.operations:
            life = lives.operations[fact.operation]
            if not life.forgotten:
                yield fact, life, lives.lives(life.session)
