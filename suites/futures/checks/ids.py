"""An id is alive, or an honest 404: never another answer, and never another operation."""

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.checks.seen import Seen, seen_in
from suites.futures.life import State
from suites.futures.lives import each_moment
from suites.futures.record import Answered, Ended, Kind, Record, Submitted

_NO_SUCH, _NO_NUMBER = 404, 422
_ALIVE = frozenset({Kind.RESULT, Kind.FAILED, Kind.TRY_AGAIN})


def honest_ids(record: Record) -> list[Finding]:
    """410 makes the SDK sample again, and an empty 200 is fatal to it: 404, with a reason, says that it is gone."""
    seen = seen_in(record)
    found = [HONEST_IDS.fails(f"{one.where} {says}", (), one.operation) for one in seen if (says := _dishonest(one))]
    if found or not seen:
        return found
    gone = sum(one.answer.kind is Kind.GONE for one in seen)
    return [HONEST_IDS.passes(f"{count_of(len(seen), 'answer')}, {gone} of them gone")]


def _dishonest(seen: Seen) -> str | None:
    answer = seen.answer
    if seen.operation is None:
        wanted = _NO_SUCH if _is_decimal(seen.request_id) else _NO_NUMBER
        return None if answer.status == wanted else f"was answered {answer.status} {answer.kind}; expected {wanted}"
    if answer.kind is Kind.GONE:
        return None if answer.says else "was answered 404 without a word why"
    if answer.kind not in _ALIVE:
        return f"was answered {answer.status} {answer.kind}; expected it to be alive, or 404"
    if seen.state is State.FORGOTTEN:
        return f"was answered {answer.kind}: the store that knew it is gone; expected 404"
    return None


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdecimal()


HONEST_IDS = must(
    "honest-ids",
    "An id is alive, or answered 404 with the reason: never 410, never empty, never what it was not.",
    honest_ids,
)


def gone_stays_gone(record: Record) -> list[Finding]:
    """What was once said to be gone does not come back."""
    gone: dict[str, Seen] = {}
    found, judged = [], 0
    for seen in sorted(seen_in(record), key=lambda one: one.came):
        before = gone.get(seen.request_id)
        judged += before is not None
        if before is not None and seen.answer.kind is not Kind.GONE:
            says = f"{seen.where} was answered {seen.answer.kind}, after it was said to be gone in step {before.came}"
            found.append(GONE_STAYS_GONE.fails(says, (), seen.operation))
        if seen.answer.kind is Kind.GONE:
            gone.setdefault(seen.request_id, seen)
    if found or not judged:
        return found
    return [GONE_STAYS_GONE.passes(count_of(judged, "further poll"))]


GONE_STAYS_GONE = must(
    "gone-stays-gone",
    "What was said to be gone stays gone.",
    gone_stays_gone,
    needs_clock=True,  # or an end of its process; but then the scripts that are told show it
)


def unique_ids(record: Record) -> list[Finding]:
    """Over a restart too: an id names one operation for ever."""
    owner: dict[str, int] = {}
    found = []
    for fact in record.facts:
        if not isinstance(fact, Submitted) or fact.answer is None or not fact.answer.request_id:
            continue
        other = owner.setdefault(fact.answer.request_id, fact.operation)
        if other != fact.operation:
            says = f"step {fact.step}: operation {fact.operation} was given {fact.answer.request_id!r}, as was {other}"
            found.append(UNIQUE_IDS.fails(says, (), fact.operation))
    if found or len(set(owner.values())) < 2:
        return found
    return [UNIQUE_IDS.passes(count_of(len(owner), "id"))]


UNIQUE_IDS = must("unique-ids", "No two operations are given the same id, whatever restarts between them.", unique_ids)


def whole_answers(record: Record) -> list[Finding]:
    """Only a server that is killed may end the connection of a poll without an answer. What is lost on the way is not
    its affair.
    """
    judged, found = 0, []
    excused: set[int] = set()
    for fact, lives in each_moment(record.terms, record.facts):
        match fact:
            case Ended(killed=True):
                excused |= {poll for poll, life in lives.polls.items() if life.answered is None}
            case Answered(poll=poll, answer=answer) if lives.polls[poll].left is None:
                judged += 1
                if answer.kind is Kind.NOTHING and poll not in excused and record.terms.direct:
                    says = f"step {fact.step}: poll {poll} ended without a whole answer: {answer.says}"
                    found.append(WHOLE_ANSWERS.fails(says, (), lives.polls[poll].asked.operation))
            case _:
                pass
    if found or not judged:
        return found
    return [WHOLE_ANSWERS.passes(count_of(judged, "poll"))]


WHOLE_ANSWERS = must(
    "whole-answers",
    "A poll whose caller stays gets a whole answer, unless its server is killed.",
    whole_answers,
)
