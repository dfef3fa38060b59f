"""A sampling result as arrays: what was asked for, and what came. Little endian, as the wire has it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forwarder.request import Asked

TOKEN = np.dtype("<i4")
LOGPROB = np.dtype("<f4")
NO_TOKEN, NO_LOGPROB = 0, -99999.0  # in a cell of the top k that holds nothing
MAX_TOKEN = 2**31 - 1

Tokens = NDArray[np.int32]
Logprobs = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleAsked:
    """What a result must match. `topk`: how many of the likeliest tokens at each place of the prompt; 0: none."""

    choices: int
    max_tokens: int
    prompt: Tokens
    prompt_logprobs: bool
    topk: int

    @property
    def router(self) -> Asked:
        """What the router was asked for."""
        return Asked(choices=self.choices, token_ids=True, logprobs=True)

    @property
    def of_prompt(self) -> bool:
        """Something about the prompt's own tokens was asked for."""
        return self.prompt_logprobs or self.topk > 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledSequence:
    """One sequence, with as many logprobs as tokens. `stopped`: it ended by itself, not at its greatest length."""

    stopped: bool
    tokens: Tokens
    logprobs: Logprobs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopkLogprobs:
    """The likeliest tokens at each place of the prompt, the likeliest first: a row a place, `k` columns."""

    tokens: Tokens
    logprobs: Logprobs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledResult:
    """Sequences in the order of their indices. What was not asked for is None. NaN: no logprob is defined there."""

    sequences: tuple[SampledSequence, ...]
    prompt_logprobs: Logprobs | None = None
    topk: TopkLogprobs | None = None
