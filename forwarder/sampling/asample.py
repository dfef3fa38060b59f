"""What an SDK asks for in the body of `asample`, checked, and said again in the router's words.

What is not known here is refused, not ignored: a sample that is drawn in another way than was asked for looks right.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Annotated

import msgspec
import numpy as np

from forwarder.futures.key import MOST_SEQ_ID, Key
from forwarder.request import MAX_CHOICES, Request
from forwarder.sampling.cost import cost_bytes
from forwarder.sampling.result import MAX_TOKEN, TOKEN, SampleAsked

SESSION_HEADER = "X-Session-ID"  # the router sends the same operation to the same worker by it
MAX_TOPK = 1024
_DIGEST_BYTES = 16

TokenId = Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKEN)]
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class WireError(ValueError):
    """A request that is refused with `status`; `says` names what was found and what was expected."""

    def __init__(self, status: int, says: str) -> None:
        super().__init__(says)
        self.status = status
        self.says = says


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleRequest:
    """One operation. `digest` is that of what was asked for: how the body was written, and the headers, are all one.
    `cost_bytes` is the size of the largest result that `protobuf_of` can make of an answer.
    """

    key: Key
    model: str
    request: Request
    headers: Mapping[str, str]
    asked: SampleAsked
    digest: bytes
    cost_bytes: int

    @property
    def held_bytes(self) -> int:
        """What it takes itself, for as long as it runs."""
        return len(self.request.body) + self.asked.prompt.nbytes


class _Chunk(msgspec.Struct, tag_field="type", tag="encoded_text", forbid_unknown_fields=True):
    tokens: list[TokenId]


class _Prompt(msgspec.Struct, forbid_unknown_fields=True):
    chunks: list[_Chunk]


class _Params(msgspec.Struct, forbid_unknown_fields=True):
    max_tokens: Annotated[int, msgspec.Meta(le=MAX_TOKEN)] | None = None
    seed: _Long | None = None
    stop: str | list[str | TokenId] | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    top_k: Annotated[int, msgspec.Meta(ge=-1, le=MAX_TOKEN)] = -1
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0


class _Body(msgspec.Struct, tag_field="type", tag="sample", forbid_unknown_fields=True):
    prompt: _Prompt
    sampling_params: _Params
    sampling_session_id: str | None = None
    seq_id: Annotated[int, msgspec.Meta(ge=0, le=MOST_SEQ_ID)] | None = None
    num_samples: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHOICES)] = 1
    prompt_logprobs: bool | None = None
    topk_prompt_logprobs: Annotated[int, msgspec.Meta(ge=0, le=MAX_TOPK)] = 0
    base_model: str | None = None
    model_path: str | None = None


class _ForRouter(msgspec.Struct, kw_only=True):
    """In the order in which it is written."""

    model: str
    prompt: list[int]
    n: int
    seed: int | msgspec.UnsetType
    max_tokens: int
    temperature: float
    top_p: float
    top_k: int
    logprobs: int = 1  # the tokens' own
    stream: bool = False
    return_token_ids: bool = True
    prompt_logprobs: int | msgspec.UnsetType = msgspec.UNSET
    stop: list[str] | msgspec.UnsetType = msgspec.UNSET
    stop_token_ids: list[int] | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Body).decode
_encode = msgspec.json.Encoder().encode


def sample_request(body: bytes, model_of: Callable[[str], str]) -> SampleRequest:
    """The operation that this body asks for. model_of: the model of a sampling session; it is asked once nothing else
    is wrong, and what it raises for an unknown one is raised.

    Raises WireError: 400 for a max_tokens that is missing or not positive and for a ':' in the session's id, 422 for
    all else that cannot be right.
    """
    try:
        found = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(422, f"the body is no sample request: {error}") from None
    max_tokens, key = _max_tokens(found), _key(found)
    stop, stop_token_ids = _stops(found.sampling_params.stop)
    prompt = list(chain.from_iterable(chunk.tokens for chunk in found.prompt.chunks))
    if not prompt:
        raise WireError(422, "the prompt has no tokens; expected one at least")
    asked = SampleAsked(
        choices=found.num_samples,
        max_tokens=max_tokens,
        prompt=np.array(prompt, dtype=TOKEN),
        prompt_logprobs=found.prompt_logprobs is True,
        topk=found.topk_prompt_logprobs,
    )
    model, params = model_of(key.sampling_session_id), found.sampling_params
    router_body = _encode(
        _ForRouter(
            model=model,
            prompt=prompt,
            n=asked.choices,
            seed=msgspec.UNSET if params.seed is None else params.seed,
            max_tokens=max_tokens,
            temperature=params.temperature,
            top_p=params.top_p,
            top_k=params.top_k,
            prompt_logprobs=asked.topk if asked.of_prompt else msgspec.UNSET,
            stop=stop or msgspec.UNSET,
            stop_token_ids=stop_token_ids or msgspec.UNSET,
        )
    )
    return SampleRequest(
        key=key,
        model=model,
        request=Request(body=router_body, asked=asked.router),
        headers={SESSION_HEADER: f"{key.sampling_session_id}:{key.seq_id}"},
        asked=asked,
        digest=_digest(router_body, asked),
        cost_bytes=cost_bytes(asked),
    )


def _max_tokens(found: _Body) -> int:
    max_tokens = found.sampling_params.max_tokens
    if max_tokens is None or max_tokens <= 0:
        raise WireError(400, f"sampling_params.max_tokens is {max_tokens!r}; expected a positive integer")
    return max_tokens


def _key(found: _Body) -> Key:
    session, seq_id = found.sampling_session_id, found.seq_id
    if session is not None and ":" in session:
        raise WireError(400, f"sampling_session_id is {session[:100]!r}; expected one without ':'")
    if session is None or seq_id is None:
        raise WireError(
            422,
            f"sampling_session_id is {session!r} and seq_id is {seq_id!r}; expected both: a request without them "
            "cannot be told from its own second sending",
        )
    if found.base_model is not None or found.model_path is not None:
        raise WireError(422, "base_model or model_path beside a sampling session; expected the model of the session")
    return Key(sampling_session_id=session, seq_id=seq_id)


def _stops(stop: str | list[str | int] | None) -> tuple[list[str], list[int]]:
    """Texts, and token ids: one of them at most has any."""
    listed = [] if stop is None else [stop] if isinstance(stop, str) else stop
    texts = [one for one in listed if isinstance(one, str)]
    ids = [one for one in listed if isinstance(one, int)]
    if texts and ids:
        raise WireError(422, f"sampling_params.stop is {stop!r}; expected texts alone, or token ids alone")
    return texts, ids


def _digest(router_body: bytes, asked: SampleAsked) -> bytes:
    """The router's body is canonical: written here, from what was asked for. It does not tell apart who wants which of
    the prompt's logprobs.
    """
    return blake2b(router_body + bytes([asked.prompt_logprobs]), digest_size=_DIGEST_BYTES).digest()
