"""What a caller holds, held against what the router made for its operation."""

from collections.abc import Mapping
from enum import Enum
from typing import assert_never

import msgspec

from fake_router.completions import NOBODY
from fake_router.content import MAGIC, logprob_of, result_text, result_tokens, streamed_result
from fake_router.replies import body_of, content_of
from faults.acts import HEALTHY, Fragment, ReplyAct
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.contents import soundness_of
from faults.disturbance import Disturb
from faults.form import Api, Form
from faults.poison import Poison
from faults.sight import cut_can_be_seen
from faults.vocabulary import Coding, Content, Ending, Replied, Sight, Soundness
from suites.accounts import Account
from suites.attempts import Attempt
from suites.coding import GZIP
from suites.events import streamed_in
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


class _Message(msgspec.Struct, frozen=True):
    content: str


class _ChatChoice(msgspec.Struct, frozen=True):
    message: _Message
    token_ids: tuple[int, ...] | None = None  # no part of a chat in OpenAI's words: its text names the execution too

    @property
    def text(self) -> str:
        return self.message.content


class _Completion(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]


class _Chat(msgspec.Struct, frozen=True):
    choices: tuple[_ChatChoice, ...]


_decode_completion = msgspec.json.Decoder(_Completion).decode
_decode_chat = msgspec.json.Decoder(_Chat).decode


def passes_bytes(outcome: Outcome, subject: SubjectFacts) -> bool:
    """What its caller got is bytes that it promises not to touch, and no object that was made of them. One that writes
    anew may end a stream that broke with an error event of its own.
    """
    if subject.promises is not Promise.TRANSPARENT or outcome.arrival is Arrival.RETURNED:
        return False
    return not (subject.rewrites and outcome.form.stream and streamed_in(outcome.content, outcome.form.api).error)


def is_success(outcome: Outcome, subject: SubjectFacts) -> bool:
    """The caller holds what it must take for a success, or (of a transparent proxy) the beginning of one."""
    if outcome.kind is Kind.OK:
        return True
    return passes_bytes(outcome, subject) and outcome.success_head


def reply_of(attempt: Attempt) -> ReplyAct:
    """What the attempt was answered with: the healthy reply where no fault of its exchange struck."""
    for strike in reversed(attempt.strikes):
        act = fault_named(strike.fault).act
        if isinstance(act, ReplyAct):
            return act
        if isinstance(act, Poison | Disturb):
            return act.answer
    return HEALTHY


def was_lost(attempt: Attempt) -> bool:
    """Its answer, or a part of it, was lost on the way through Toxiproxy, or in a container. Who was frozen for a while
    finds it when it thaws, and who is slow may pass it on.
    """
    struck = [strike for strike in attempt.strikes if strike.struck is not None]
    acts = [strike.met.act for strike in struck]
    disturbed = any(isinstance(act, Disturb) and act.loses_answer for act in acts)
    return disturbed or any(isinstance(act, Poison) and act.cuts for act in acts)


def ended_by_plan(account: Account) -> bool:
    """Its subject was ended by what was done to its container, and no caller of its could be answered."""
    acts = [s.met.act for attempt in account.attempts for s in attempt.strikes if s.struck is not None]
    return any(isinstance(act, Disturb) and act.ends_forwarder for act in acts)


def cut_shows(attempt: Attempt) -> bool:
    """The framing of what reached the subject shows that it was cut."""
    return all(cut_can_be_seen(strike.met.seen or strike.met.act) for strike in attempt.strikes)


def is_valid(attempt: Attempt) -> bool:
    """The attempt was answered with a whole completion, as far as anybody could tell."""
    act = reply_of(attempt)
    if isinstance(act, Fragment) or not attempt.success_head or attempt.replied is not Replied.WHOLE:
        return False
    if was_lost(attempt):
        return False
    return soundness_of(act.content, attempt.form) is not Soundness.WRONG


def was_sent_well(attempt: Attempt) -> bool:
    """The router had begun to send a valid answer, and meant to send all of it without a pause that would end a
    forwarder's patience.
    """
    met = [strike.met for strike in attempt.strikes]
    whole = all(
        fault.evidence.sight is Sight.WHOLE and fault.truth.replied is Replied.WHOLE and fault.sight_is_certain
        for fault in met
    )
    act = reply_of(attempt)
    if isinstance(act, Fragment) or not whole:
        return False
    plain = (act.coding, act.flaw, act.surplus) == (None,) * 3 and act.ending in (None, Ending.FIN)
    return attempt.success_head and plain and soundness_of(act.content, attempt.form) is Soundness.SOUND


def match(attempt: Attempt, outcome: Outcome, subject: SubjectFacts) -> Match:
    """How the outcome's content relates to that attempt of its own operation."""
    if attempt.execution is None:
        return Match.NONE
    if passes_bytes(outcome, subject):
        return _match_bytes(attempt, attempt.execution, outcome)
    made = results_of(outcome.operation, attempt.execution, attempt)
    returned = outcome.arrival is Arrival.RETURNED
    if returned or outcome.heard:  # a call returns one choice, the first; a sample holds as many as asked for
        return Match.EQUAL if _holds(outcome, *made[0]) else Match.NONE
    projected = _projected(outcome)
    equal = projected is not None and len(projected) == len(made) and all(map(_is_of, projected, made))
    return Match.EQUAL if equal else Match.NONE


def _is_of(projected: "_Projected", result: "Result") -> bool:
    tokens, text = projected
    return tokens in (None, result[0]) and text == result[1]


def _holds(outcome: Outcome, tokens: tuple[int, ...], text: str) -> bool:
    """What it holds of a result is that; a protocol may know no texts, and no logprobs, and a proxy before a client may
    have left nothing but the text.
    """
    if outcome.logprobs is not None and outcome.logprobs != tuple(map(logprob_of, tokens)):
        return False
    if outcome.tokens is None:
        return outcome.text == text
    return outcome.tokens == tokens and outcome.text in (None, text)


def _match_bytes(attempt: Attempt, execution: int, outcome: Outcome) -> Match:
    """The bytes, in the coding that the head names beside them."""
    act = reply_of(attempt)
    if isinstance(act, Fragment) or not attempt.success_head:
        return Match.NONE
    sent = _sent_bytes(act, outcome.operation, execution, attempt).get(outcome.coding)
    if sent is None or not sent.startswith(outcome.body):
        return Match.NONE
    return Match.EQUAL if sent == outcome.body else Match.PREFIX


def _sent_bytes(act: Answer, operation: int, execution: int, attempt: Attempt) -> Mapping[str, bytes]:
    """By coding. A proxy that undoes one passes on the same content, and names it no more (RFC 9110 s7.7, s8.4); so
    does one that does not pass a lie on.
    """
    content = content_of(act, operation, execution, attempt.choices, attempt.form)
    match act.coding:
        case None:
            return {"": content}
        case Coding.GZIP_LIE:
            return {GZIP: content, "": content}
        case Coding.GZIP:
            return {GZIP: content, "": body_of(act.content, operation, execution, attempt.choices, attempt.form)[1]}
        case _:
            assert_never(act.coding)


Result = tuple[tuple[int, ...], str]  # tokens and text of one choice
_Projected = tuple[tuple[int, ...] | None, str]


def results_of(operation: int, execution: int, attempt: Attempt) -> tuple[Result, ...]:
    """What the router sent of each choice. Of content that is wrong, what it would have been: nobody may hold it."""
    act = reply_of(attempt)
    if isinstance(act, Answer) and act.content is Content.NO_TOKENS:
        return (((), ""),) * max(attempt.choices, 1)
    if isinstance(act, Answer) and act.content is Content.FOREIGN:
        operation, execution = NOBODY, 0
    return tuple(_result(operation, execution, choice, attempt.form) for choice in range(max(attempt.choices, 1)))


def _result(operation: int, execution: int, choice: int, form: Form) -> Result:
    if form.stream:
        tokens, text = streamed_result(operation, execution, choice)
        return tuple(tokens), text
    most = form.most_tokens
    return tuple(result_tokens(operation, execution, choice, most)), result_text(operation, execution, choice, most)


def _projected(outcome: Outcome) -> tuple[_Projected, ...] | None:
    """Tokens (where there are any) and text of each choice; None for no answer in the form that was asked for."""
    content = outcome.content
    if outcome.form.stream:
        streamed = streamed_in(content, outcome.form.api).choices
        counted = sorted(streamed) == list(range(len(streamed)))
        return tuple(streamed[index] for index in range(len(streamed))) if counted else None
    try:
        decode = _decode_chat if outcome.form.api is Api.CHAT else _decode_completion
        choices: tuple[_Choice | _ChatChoice, ...] = decode(content).choices
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return tuple((choice.token_ids, choice.text) for choice in choices)


def operation_held(outcome: Outcome) -> int | None:
    """The operation that what the caller holds was made for; None where it names none."""
    tokens = outcome.tokens
    if tokens is None:
        projected = _projected(outcome)
        tokens = projected[0][0] if projected else None
    match tokens:
        case (int() as magic, int() as operation, *_) if magic == MAGIC:
            return operation
        case _:
            return None
