"""A stream that did not end as a success, held against what the router made: its caller has used what came of it."""

from collections.abc import Mapping

from fake_router.replies import body_of
from faults.acts import Fragment
from suites.attempts import Attempt
from suites.checks.results import Result, passes_bytes, reply_of, results_of
from suites.events import Streamed, streamed_in
from suites.history import Arrival, Kind, Outcome
from suites.run import SubjectFacts

_NOTHING: Result = ((), "")


def is_part(outcome: Outcome, subject: SubjectFacts) -> bool:
    """A stream has begun, and no success came of it. (Of a proxy bytes are compared, of any answer.)"""
    begun = outcome.tokens is not None or outcome.success_head
    return begun and outcome.form.stream and outcome.kind is not Kind.OK and not passes_bytes(outcome, subject)


def streamed_of(outcome: Outcome) -> Streamed:
    """What its caller holds, read as a stream; a call in process has read it already."""
    if outcome.tokens is not None:
        return Streamed(choices={0: (outcome.tokens, outcome.text or "")})
    return streamed_in(outcome.content, outcome.form.api)


def ends_as_if_whole(outcome: Outcome) -> bool:
    """A caller believes that nothing is missing: it ends as its framing says, or says [DONE], and nothing in it says
    that it failed.
    """
    streamed = streamed_of(outcome)
    return not streamed.error and (streamed.done or outcome.arrival is Arrival.WHOLE)


def is_beginning(attempt: Attempt, outcome: Outcome) -> bool:
    """Tokens and text of every choice are the beginning of what this one attempt was answered with."""
    sent = _sent(attempt, outcome.operation)
    return all(_begins(held, sent.get(index, _NOTHING)) for index, held in streamed_of(outcome).choices.items())


def holds_nothing(outcome: Outcome) -> bool:
    """No token and no text has come."""
    return all(held == _NOTHING for held in streamed_of(outcome).choices.values())


def _begins(held: Result, sent: Result) -> bool:
    return sent[0][: len(held[0])] == held[0] and sent[1].startswith(held[1])


def _sent(attempt: Attempt, operation: int) -> Mapping[int, Result]:
    """What the router's answer holds of each choice, up to an error or to what is wrong in it."""
    act = reply_of(attempt)
    if attempt.execution is None or isinstance(act, Fragment) or not attempt.success_head:
        return {}
    if not attempt.form.stream:
        return dict(enumerate(results_of(operation, attempt.execution, attempt)))
    body = body_of(act.content, operation, attempt.execution, attempt.choices, attempt.form)[1]
    return streamed_in(body, attempt.form.api).choices
