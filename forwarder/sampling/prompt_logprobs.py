"""What a completion says of its prompt, in vLLM's shape: a list with an entry for each of the prompt's tokens.

The first entry is null: nothing came before it. Any other is an object whose keys are token ids and whose values hold
the logprob: of the k likeliest tokens, and of the prompt's own where it is not among them.
"""

from itertools import chain
from typing import Annotated, Any

import msgspec
import numpy as np

from forwarder.sampling.narrow import narrow
from forwarder.sampling.result import (
    LOGPROB,
    MAX_TOKEN,
    NO_LOGPROB,
    NO_TOKEN,
    TOKEN,
    Logprobs,
    SampleAsked,
    TopkLogprobs,
)


class PromptError(ValueError):
    """There is no such list, or it is not what was asked for; the message says what is wrong, as a predicate."""


class _Logprob(msgspec.Struct, gc=False):
    logprob: float
    rank: Annotated[int, msgspec.Meta(ge=1)] | None = None


_Entry = dict[Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKEN)], _Logprob]


class _Choice(msgspec.Struct):
    index: Any = None
    prompt_logprobs: msgspec.Raw = msgspec.Raw(b"null")


class _Result(msgspec.Struct):
    choices: list[_Choice]


_choices_in = msgspec.json.Decoder(_Result).decode
_entries_in = msgspec.json.Decoder(list[_Entry | None] | None).decode  # of one choice: all have the same prompt


def prompt_logprobs_in(body: bytes, asked: SampleAsked) -> tuple[Logprobs | None, TopkLogprobs | None]:
    """The prompt's own logprobs and the likeliest tokens, each where it was asked for. The rest of the body is right,
    and all of it is JSON. Raises PromptError.
    """
    choices = _choices_in(body).choices
    first = next((choice for choice in choices if choice.index == 0), choices[0])
    try:
        entries = _entries_in(first.prompt_logprobs)
    except msgspec.MsgspecError as error:
        raise PromptError(f"prompt_logprobs of another shape: {error}") from None
    if entries is None:
        raise PromptError("no prompt_logprobs, though they were asked for")
    if len(entries) != asked.prompt.size:
        raise PromptError(f"{len(entries)} prompt_logprobs; expected {asked.prompt.size}, one a token of the prompt")
    if entries[0] is not None:
        raise PromptError("a logprob of the prompt's first token; expected null: nothing comes before it")
    own = np.full(len(entries), np.nan, dtype=LOGPROB)
    own[1:] = _finite(_own_in(entries, asked))
    topk = _topk_in(entries, asked) if asked.topk else None
    return (own if asked.prompt_logprobs else None), topk


def _own_in(entries: list[_Entry | None], asked: SampleAsked) -> np.ndarray[Any, Any]:
    found = np.empty(len(entries) - 1)
    prompt = asked.prompt.tolist()
    for at, entry in enumerate(entries[1:], start=1):
        own = None if entry is None else entry.get(prompt[at])
        if entry is None or own is None:
            raise PromptError(f"no logprob of the prompt's token {prompt[at]} at {at}")
        if len(entry) not in (max(1, asked.topk), asked.topk + 1):
            raise PromptError(
                f"{len(entry)} logprobs at {at} of the prompt; expected the {asked.topk} likeliest, and its own"
            )
        found[at - 1] = own.logprob
    return found


def _topk_in(entries: list[_Entry | None], asked: SampleAsked) -> TopkLogprobs:
    """The prompt's own token is among them only where they would be one too few without it."""
    k, shape = asked.topk, (len(entries), asked.topk)
    known = [entry for entry in entries if entry is not None]  # all but the first
    for entry, own in zip(known, asked.prompt[1:].tolist(), strict=True):
        if len(entry) > k:
            del entry[own]
    cells = len(known) * k
    found = np.fromiter(chain.from_iterable(known), dtype=TOKEN, count=cells).reshape(-1, k)
    wide = np.fromiter((one.logprob for entry in known for one in entry.values()), dtype=np.float64, count=cells)
    narrowed = _finite(wide).reshape(-1, k)
    order = np.argsort(-narrowed, axis=1, kind="stable")
    tokens, logprobs = np.full(shape, NO_TOKEN, dtype=TOKEN), np.full(shape, NO_LOGPROB, dtype=LOGPROB)
    tokens[1:] = np.take_along_axis(found, order, axis=1)
    logprobs[1:] = np.take_along_axis(narrowed, order, axis=1)
    return TopkLogprobs(tokens=tokens, logprobs=logprobs)


def _finite(wide: np.ndarray[Any, Any]) -> Logprobs:
    found = narrow(wide)
    if found is None:
        raise PromptError("a logprob of the prompt that no float32 can hold")
    return found
