"""A completion as a sampling result: taken for one only if `validate` takes it for what was asked for, and if it keeps
within what room was kept for.
"""

import numpy as np

from forwarder.reply import Reply
from forwarder.sampling.narrow import narrow
from forwarder.sampling.prompt_logprobs import PromptError, prompt_logprobs_in
from forwarder.sampling.quick import quickly
from forwarder.sampling.result import TOKEN, SampleAsked, SampledResult, SampledSequence
from forwarder.shapes import Part
from forwarder.validate import JSON_TYPE, choices_of, invalid, wrong_with_head


def sampled_of(reply: Reply, asked: SampleAsked) -> SampledResult:
    """The result in a whole 2xx. Raises InvalidResultError for anything else: for what `completion_of` refuses, for
    more tokens than max_tokens, for a logprob that no float32 can hold, and for wrong logprobs of the prompt.
    """
    sequences = quickly(reply.body, asked) if wrong_with_head(reply, JSON_TYPE) is None else None
    if sequences is None:
        sequences = slowly(reply, asked)
    if not asked.of_prompt:
        return SampledResult(sequences=sequences)
    try:
        prompt_logprobs, topk = prompt_logprobs_in(reply.body, asked)
    except PromptError as error:
        raise invalid(f"the body has {error}", reply) from None
    return SampledResult(sequences=sequences, prompt_logprobs=prompt_logprobs, topk=topk)


def slowly(reply: Reply, asked: SampleAsked) -> tuple[SampledSequence, ...]:
    """The sequences of a body that is right, in whatever way. Raises InvalidResultError, and says what is wrong."""
    parts = choices_of(reply, asked.router)
    ordered = sorted(parts, key=lambda part: part.index or 0)  # all have one, or none has
    return tuple(_sequence(part, reply, asked) for part in ordered)


def _sequence(part: Part, reply: Reply, asked: SampleAsked) -> SampledSequence:
    tokens, logprobs = part.token_ids, part.token_logprobs
    assert tokens is not None
    assert logprobs is not None  # both were asked for, so they are there
    if len(tokens) > asked.max_tokens:
        raise invalid(
            f"a choice has {len(tokens)} tokens; expected at most {asked.max_tokens}, as was asked for", reply
        )
    narrowed = narrow(np.array(logprobs, dtype=np.float64))
    if narrowed is None:
        raise invalid("a choice has a logprob that no float32 can hold", reply)
    return SampledSequence(
        stopped=part.finish_reason == "stop", tokens=np.array(tokens, dtype=TOKEN), logprobs=narrowed
    )
