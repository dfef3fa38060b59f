"""Bodies of asample for the tests of what reads them."""

import json
from typing import Any

from forwarder.sampling.asample import SampleRequest, sample_request


def body(**changes: Any) -> dict[str, Any]:
    """What the SDK writes; a change of None leaves a key out."""
    whole = {
        "num_samples": 2,
        "prompt": {"chunks": [{"tokens": [3, 5, 6], "type": "encoded_text"}]},
        "sampling_params": params(),
        "sampling_session_id": "s-1",
        "seq_id": 0,
        "prompt_logprobs": True,
        "topk_prompt_logprobs": 0,
        "type": "sample",
    }
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def params(**changes: Any) -> dict[str, Any]:
    """Its sampling_params."""
    whole = {"max_tokens": 8, "seed": 3, "stop": [13], "temperature": 0.7, "top_k": -1, "top_p": 1.0}
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def asked(**changes: Any) -> SampleRequest:
    """The operation that the changed body asks for, of a session with the model `m`."""
    return sample_request(json.dumps(body(**changes)).encode(), lambda session: "m")
