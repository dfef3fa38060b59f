"""What a caller holds, held against what the router made for its operation."""

from enum import Enum

import msgspec

from fake_router.content import MAGIC, result_text, result_tokens
from fake_router.replies import body_of
from faults.acts import Answer
from faults.catalogue import fault_named
from faults.vocabulary import Content, Replied
from suites.attempts import Attempt
from suites.history import Arrival, Kind, Outcome
from suites.run import Promise, SubjectFacts


class Match(Enum):
    """How what a caller holds relates to what one attempt yields."""

    EQUAL = "equal"
    PREFIX = "prefix"  # a part of the bytes, from their beginning
    NONE = "none"


class _Choice(msgspec.Struct, frozen=True):
    text: str
    token_ids: tuple[int, ...]


class _Completion(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]


_decode = msgspec.json.Decoder(_Completion).decode


def passes_bytes(subject: SubjectFacts) -> bool:
    """What its callers get is bytes that it promises not to touch."""
    return subject.promises is Promise.TRANSPARENT and not subject.in_process


def is_success(outcome: Outcome, subject: SubjectFacts) -> bool:
    """The caller holds what it must take for a success, or (of a transparent proxy) the beginning of one."""
    if outcome.kind is Kind.OK:
        return True
    arrived = outcome.arrival in (Arrival.WHOLE, Arrival.CUT)
    return passes_bytes(subject) and arrived and outcome.status is not None and 200 <= outcome.status < 300


def content_of(attempt: Attempt) -> Content:
    """What the body of the attempt's reply holds; the completion where no fault of its exchange struck."""
    for strike in reversed(attempt.strikes):
        act = fault_named(strike.fault).act
        if isinstance(act, Answer):
            return act.content
    return Content.RESULT


def is_valid(attempt: Attempt) -> bool:
    """The attempt was answered with a whole completion."""
    return attempt.success_head and attempt.replied is Replied.WHOLE and content_of(attempt) is Content.RESULT


def match(attempt: Attempt, outcome: Outcome, subject: SubjectFacts) -> Match:
    """How the outcome's content relates to that attempt of its own operation."""
    if passes_bytes(subject):
        return _match_bytes(attempt, outcome)
    if attempt.execution is None:
        return Match.NONE
    made = _results(outcome.operation, attempt.execution, attempt.choices)
    if subject.in_process:  # a call returns one choice: the first
        return Match.EQUAL if (outcome.tokens, outcome.text) == made[0] else Match.NONE
    return Match.EQUAL if _projected(outcome.body) == made else Match.NONE


def _match_bytes(attempt: Attempt, outcome: Outcome) -> Match:
    if not attempt.success_head or attempt.execution is None:
        return Match.NONE
    _, body = body_of(content_of(attempt), outcome.operation, attempt.execution, attempt.choices)
    if outcome.body == body:
        return Match.EQUAL
    return Match.PREFIX if body.startswith(outcome.body) else Match.NONE


def _results(operation: int, execution: int, choices: int) -> tuple[tuple[tuple[int, ...], str], ...]:
    return tuple(
        (tuple(result_tokens(operation, execution, choice)), result_text(operation, execution, choice))
        for choice in range(max(choices, 1))
    )


def _projected(body: bytes) -> tuple[tuple[tuple[int, ...], str], ...] | None:
    """Tokens and text of each choice; None for what is no completion."""
    try:
        completion = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return tuple((choice.token_ids, choice.text) for choice in completion.choices)


def operation_held(outcome: Outcome) -> int | None:
    """The operation that what the caller holds was made for; None where it names none."""
    tokens = outcome.tokens
    if tokens is None:
        projected = _projected(outcome.body)
        tokens = projected[0][0] if projected else None
    match tokens:
        case (int() as magic, int() as operation, *_) if magic == MAGIC:
            return operation
        case _:
            return None
