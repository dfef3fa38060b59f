"""A result as bytes: protobuf, made once; and JSON, made of those same bytes for who asks for it."""

from typing import Any

import numpy as np
import orjson

from forwarder.sampling.message import (
    STOP_REASON_LENGTH,
    STOP_REASON_STOP,
    SampledSequence,
    SampleResponse,
    TopkPromptLogprobs,
)
from forwarder.sampling.result import LOGPROB, NO_LOGPROB, NO_TOKEN, TOKEN, Logprobs, SampledResult, Tokens


def protobuf_of(result: SampledResult) -> bytes:
    """The message `tinker_public.SampleResponse`. Nothing in it has an order of its own choice: the bytes are exact."""
    response = SampleResponse(
        sequences=[
            SampledSequence(
                stop_reason=STOP_REASON_STOP if sequence.stopped else STOP_REASON_LENGTH,
                tokens=sequence.tokens.tobytes(),
                logprobs=sequence.logprobs.tobytes(),
            )
            for sequence in result.sequences
        ]
    )
    if result.prompt_logprobs is not None:
        response.prompt_logprobs = result.prompt_logprobs.tobytes()
    if result.topk is not None:
        places, k = result.topk.tokens.shape
        response.topk_prompt_logprobs.CopyFrom(
            TopkPromptLogprobs(
                token_ids=result.topk.tokens.tobytes(),
                logprobs=result.topk.logprobs.tobytes(),
                k=k,
                prompt_length=places,
            )
        )
    data: bytes = response.SerializeToString()
    return data


def json_of(payload: bytes) -> bytes:
    """The same result in JSON: what was not asked for is left out, and what is undefined is null. A logprob is the
    shortest decimal that is read as the same float32.
    """
    response = SampleResponse.FromString(payload)
    listed: dict[str, Any] = {
        "sequences": [
            {
                "stop_reason": "stop" if sequence.stop_reason == STOP_REASON_STOP else "length",
                "tokens": np.frombuffer(sequence.tokens, dtype=TOKEN),
                "logprobs": np.frombuffer(sequence.logprobs, dtype=LOGPROB),
            }
            for sequence in response.sequences
        ],
        "type": "sample",
    }
    if response.HasField("prompt_logprobs"):
        listed["prompt_logprobs"] = np.frombuffer(response.prompt_logprobs, dtype=LOGPROB)
    if response.HasField("topk_prompt_logprobs"):
        found = response.topk_prompt_logprobs
        shape = (found.prompt_length, found.k)
        listed["topk_prompt_logprobs"] = _rows(
            np.frombuffer(found.token_ids, dtype=TOKEN).reshape(shape),
            np.frombuffer(found.logprobs, dtype=LOGPROB).reshape(shape),
        )
    return orjson.dumps(listed, option=orjson.OPT_SERIALIZE_NUMPY)


def _rows(tokens: Tokens, logprobs: Logprobs) -> list[list[tuple[int, np.float32]] | None]:
    """A list of (token, logprob) a place of the prompt, or None for one of which nothing is known."""
    known = (tokens != NO_TOKEN) | (logprobs != np.float32(NO_LOGPROB))
    return [
        [(int(token), logprob) for token, logprob in zip(tokens[at][row], logprobs[at][row], strict=True)]
        if (row := known[at]).any()
        else None
        for at in range(len(tokens))
    ]
