"""What the SDK has to hand out for an execution: computed from what the router read of the request, never from what a
server made of the reply.
"""

from fake_router.content import RESULT_TOKENS, logprob_of, result_tokens
from fake_router.prompt_logprobs import prompt_logprobs
from faults.form import AboutPrompt
from suites.attempts import Attempt
from suites.tinker_sdk.orders import Asking, Compute, Computed, Likeliest, Sample, Sampled, Sequence


def expected_of(order: Asking, number: int, attempt: Attempt) -> Sampled | Computed | None:
    """What that execution of that operation comes to; None where the router was not asked what it would take."""
    about = attempt.form.about_prompt
    match order:
        case Compute():
            return None if about is None else Computed(call=order.call, logprobs=_own(about))
        case Sample():
            if (order.prompt_logprobs or order.topk) and (about is None or about.likeliest < order.topk):
                return None
            return Sampled(
                call=order.call,
                sequences=tuple(_sequence(number, attempt, choice) for choice in range(order.num_samples)),
                prompt_logprobs=_own(about) if about is not None and order.prompt_logprobs else None,
                topk=_likeliest(about, order.topk) if about is not None and order.topk else None,
            )


def _sequence(number: int, attempt: Attempt, choice: int) -> Sequence:
    assert attempt.execution is not None
    tokens = result_tokens(number, attempt.execution, choice, attempt.form.most_tokens)
    return Sequence(
        tokens=tuple(tokens),
        logprobs=tuple(map(logprob_of, tokens)),
        stop_reason="stop" if len(tokens) == RESULT_TOKENS else "length",
    )


def _own(about: AboutPrompt) -> tuple[float | None, ...]:
    pairs = zip(about.tokens, prompt_logprobs(about), strict=True)
    return tuple(None if entry is None else entry[str(token)]["logprob"] for token, entry in pairs)


def _likeliest(about: AboutPrompt, topk: int) -> tuple[Likeliest | None, ...]:
    rows: list[Likeliest | None] = []
    for entry in prompt_logprobs(about):
        if entry is None:
            rows.append(None)
            continue
        ranked = sorted(entry.items(), key=lambda item: item[1]["rank"])
        rows.append(tuple((int(token), found["logprob"]) for token, found in ranked[:topk]))
    return tuple(rows)
