"""The requests of the protocol, as its callers write them. Pure: nothing is sent here."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suites.request import Request

CREATE_SESSION = "/api/v1/create_session"
CREATE_SAMPLING_SESSION = "/api/v1/create_sampling_session"
HEARTBEAT = "/api/v1/session_heartbeat"
ASAMPLE = "/api/v1/asample"
RETRIEVE_FUTURE = "/api/v1/retrieve_future"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
MODEL = "retryproof"

_HEADERS = {"Accept": JSON, "Content-Type": JSON, "Accept-Encoding": "identity", "X-Api-Key": "tml-retryproof"}
_calls = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """One submit. The pair (sampling_session_id, seq_id) is its key: all that is the same when it is sent again.
    params: further sampling parameters, such as seed or stop.
    """

    sampling_session_id: str
    seq_id: int
    prompt: Sequence[int]
    num_samples: int = 1
    max_tokens: int = 64
    prompt_logprobs: bool = False
    topk_prompt_logprobs: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)

    def request(self, path: str = "", headers: Mapping[str, str] | None = None) -> Request:
        """A POST of it. path: what the server's own paths come behind."""
        sampling_params = {"max_tokens": self.max_tokens, "temperature": 1.0, "top_k": -1, "top_p": 1.0, **self.params}
        body = {
            "num_samples": self.num_samples,
            "prompt": {"chunks": [{"tokens": list(self.prompt), "type": "encoded_text"}]},
            "sampling_params": sampling_params,
            "sampling_session_id": self.sampling_session_id,
            "seq_id": self.seq_id,
            "prompt_logprobs": self.prompt_logprobs,
            "topk_prompt_logprobs": self.topk_prompt_logprobs,
            "type": "sample",
        }
        return _post(path + ASAMPLE, body, {"X-Tinker-Sampling-Backpressure": "1", **(headers or {})})


def create_session(path: str = "", headers: Mapping[str, str] | None = None) -> Request:
    """Answered with a session_id."""
    body = {"tags": [], "user_metadata": {}, "sdk_version": "0.25.0", "type": "create_session"}
    return _post(path + CREATE_SESSION, body, headers or {})


def create_sampling_session(
    session_id: str, number: int = 0, path: str = "", headers: Mapping[str, str] | None = None
) -> Request:
    """Answered with a sampling_session_id; number: its place among those of its session."""
    body = {
        "session_id": session_id,
        "sampling_session_seq_id": number,
        "base_model": MODEL,
        "type": "create_sampling_session",
    }
    return _post(path + CREATE_SAMPLING_SESSION, body, headers or {})


def heartbeat(session_id: str, path: str = "", headers: Mapping[str, str] | None = None) -> Request:
    """Answered with any JSON object."""
    return _post(path + HEARTBEAT, {"session_id": session_id, "type": "session_heartbeat"}, headers or {})


def retrieve_future(
    request_id: str,
    *,
    iteration: int = 0,
    metadata_only: bool = True,
    accept: str = PROTOBUF,
    path: str = "",
    headers: Mapping[str, str] | None = None,
) -> Request:
    """One poll; iteration: how many came before it. metadata_only: it may be answered with the result's size alone."""
    body = {"request_id": request_id, "allow_metadata_only": metadata_only}
    said = {"Accept": accept, "X-Tinker-Request-Iteration": str(iteration)}
    return _post(path + RETRIEVE_FUTURE, body, {**said, **(headers or {})})


def _post(target: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    """The SDK's idempotency key is a new one for each call: it identifies no operation."""
    key = {"X-Idempotency-Key": f"stainless-python-retry-{next(_calls)}"}
    return Request(target=target, body=json.dumps(body).encode(), headers={**_HEADERS, **key, **headers})
