"""What is wrong with a scenario of the SDK: right, wrong and empty records as literals, and what they must be told."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fake_router.content import prompt_tokens
from fake_router.entries import AnyEntry, Received
from faults.form import AboutPrompt, Form
from suites.tinker_sdk.judging import Asked, Expect, SdkRecord, wrong_in
from suites.tinker_sdk.orders import Asking, Compute, Computed, Raised, Returned, Sample, Sampled
from suites.tinker_sdk.orders import Sequence as Sampling
from tests.ledgers import OP, accepted, executed, numbered, opened, received, served, steps, striking, struck

SAMPLE = Sample(client=1, call=2, prompt=tuple(prompt_tokens(OP)))
COMPUTE = Compute(client=1, call=2, prompt=tuple(prompt_tokens(OP)))
FIRST = Sampling(tokens=(31337, OP, 1, 0), logprobs=(-0.75, -0.125, -0.25, -0.125), stop_reason="stop")
RIGHT = Sampled(call=2, sequences=(FIRST,))
FAILED = Raised(call=2, error="RequestFailedError", says="may have run")
GONE = Raised(call=2, error="ValueError", says="404")
ONCE = steps(served(1, 1))
TWICE = steps(served(1, 1), [opened(2), received(2), accepted(2), executed(2, 2)])
NEVER = [opened(1), received(1)]


def _said(entries: Sequence[AnyEntry], answer: Returned | None, order: Asking = SAMPLE, **more: Any) -> list[str]:
    return wrong_in(SdkRecord(asked=(Asked(order=order, number=OP, answer=answer),), ledger=numbered(entries), **more))


def _asking(entries: Sequence[AnyEntry], form: Form) -> list[AnyEntry]:
    return [entry.asking(form) if isinstance(entry, Received) else entry for entry in entries]


def _changed(**changes: Any) -> Sampled:
    values = {"tokens": FIRST.tokens, "logprobs": FIRST.logprobs, "stop_reason": "stop"} | changes
    return Sampled(call=2, sequences=(Sampling(**values),))


def test_a_right_result_of_work_that_was_done_once_is_right() -> None:
    """Nothing is said of it."""
    assert _said(ONCE, RIGHT) == []


@pytest.mark.parametrize(
    "wrong",
    [
        _changed(tokens=(31337, OP + 1, 1, 0)),
        _changed(tokens=(31337, OP, 2, 0)),
        _changed(tokens=FIRST.tokens[:3], logprobs=(-0.75, -0.125, -0.25)),
        _changed(logprobs=(-0.75, -0.125, -0.25, -0.25)),
        _changed(logprobs=None),
        _changed(stop_reason="length"),
        Sampled(call=2, sequences=(FIRST, FIRST)),
        Sampled(call=2, sequences=()),
        Sampled(call=2, sequences=(FIRST,), prompt_logprobs=(None, -0.5)),
    ],
)
def test_any_other_result_is_wrong(wrong: Sampled) -> None:
    """By a token, a logprob, a reason, a sequence, or what was not asked for."""
    (says,) = _said(ONCE, wrong)
    assert says.startswith(f"operation {OP}: its caller got Sampled(")


@pytest.mark.parametrize(
    ("entries", "answer", "expects", "part"),
    [
        (TWICE, RIGHT, Expect.RESULT, "was executed 2 times; expected once"),
        (NEVER, RIGHT, Expect.RESULT, "expected []"),
        (ONCE, None, Expect.RESULT, "its caller still waits"),
        (ONCE, None, Expect.FAILURE, "its caller still waits"),
        (ONCE, GONE, Expect.RESULT, "its caller got ValueError: 404; expected a result"),
        (ONCE, FAILED, Expect.RESULT, "its caller got RequestFailedError: may have run; expected a result"),
        (ONCE, GONE, Expect.FAILURE, "its caller got ValueError: 404; expected RequestFailedError"),
        (ONCE, RIGHT, Expect.FAILURE, "expected RequestFailedError: the router gave no result"),
        (NEVER, GONE, Expect.EITHER, "its caller got ValueError: 404; expected RequestFailedError"),
        (ONCE, FAILED, Expect.EITHER, "was executed, and its caller got RequestFailedError"),
        (TWICE, FAILED, Expect.FAILURE, "was executed 2 times; expected once"),
    ],
)
def test_what_must_not_be_is_said(
    entries: Sequence[AnyEntry], answer: Returned | None, expects: Expect, part: str
) -> None:
    """In one sentence."""
    (says,) = _said(entries, answer, expects=expects)
    assert part in says


@pytest.mark.parametrize(
    ("entries", "answer", "expects"),
    [
        (ONCE, FAILED, Expect.FAILURE),
        (NEVER, FAILED, Expect.FAILURE),
        (NEVER, FAILED, Expect.EITHER),
        (ONCE, RIGHT, Expect.EITHER),
    ],
)
def test_a_failure_is_right_where_there_is_no_result(
    entries: Sequence[AnyEntry], answer: Returned, expects: Expect
) -> None:
    """Or where a safe retry was not made."""
    assert _said(entries, answer, expects=expects) == []


def test_a_scenario_whose_fault_has_not_struck_shows_nothing() -> None:
    """And one in which nothing was asked."""
    assert _said(ONCE, RIGHT, strikes=1) == ["0 faults have struck; expected 1: nothing is shown"]
    met = [opened(1), received(1), striking("reset-after", exchange=1), struck(3), accepted(1), executed(1, 1)]
    assert _said(met, RIGHT, strikes=1) == []
    assert wrong_in(SdkRecord(asked=(), ledger=())) == ["nothing was asked; expected one call at least"]


def test_what_is_said_of_a_prompt_is_what_the_router_made_of_it() -> None:
    """Its own logprobs, and the likeliest by rank; and nothing of it can be right where nothing was asked of it."""
    about = AboutPrompt(likeliest=2, tokens=SAMPLE.prompt)
    entries = _asking(ONCE, Form(about_prompt=about))
    own = (None, -0.25)  # OP is odd: not among the 2 likeliest, and of rank 2 + 1 + OP % 5
    topk = (None, ((OP + 1, -0.0625), (OP + 2, -0.125)))
    order = Sample(client=1, call=2, prompt=SAMPLE.prompt, prompt_logprobs=True, topk=2)
    whole = Sampled(call=2, sequences=(FIRST,), prompt_logprobs=own, topk=topk)
    assert _said(entries, whole, order) == []
    assert len(_said(entries, RIGHT, order)) == 1
    assert len(_said(ONCE, whole, order)) == 1
    assert _said(entries, Computed(call=2, logprobs=own), COMPUTE) == []
    assert len(_said(entries, Computed(call=2, logprobs=(None, -0.5)), COMPUTE)) == 1
    assert len(_said(ONCE, Computed(call=2, logprobs=own), COMPUTE)) == 1


def test_a_result_that_was_cut_ends_by_its_length() -> None:
    """As it was asked for."""
    entries = _asking(ONCE, Form(most_tokens=1))
    cut = Sampled(call=2, sequences=(Sampling(tokens=(31337,), logprobs=(-0.75,), stop_reason="length"),))
    assert _said(entries, cut) == []
    assert len(_said(entries, RIGHT)) == 1


def test_each_call_is_held_against_its_own_operation() -> None:
    """One that gets another's result is named."""
    record = SdkRecord(asked=(Asked(order=SAMPLE, number=OP, answer=RIGHT),), ledger=numbered(ONCE))
    other = Asked(order=SAMPLE, number=OP + 1, answer=RIGHT)
    (says,) = wrong_in(replace(record, asked=(*record.asked, other)))
    assert says.startswith(f"operation {OP + 1}: its caller got")
