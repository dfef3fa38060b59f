"""The result as the SDK reads it: the message of sampling.proto, and a size that is known before anything runs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc_tools
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from hypothesis import given
from hypothesis import strategies as st

from forwarder.sampling import message
from forwarder.sampling.cost import cost_bytes
from forwarder.sampling.encode import json_of, protobuf_of
from forwarder.sampling.result import LOGPROB, TOKEN, SampledResult, SampledSequence, TopkLogprobs
from tests.completion_bodies import asked_for

PROTO = Path(message.__file__).with_name("sampling.proto")


def _sequence(tokens: list[int], logprobs: list[float], *, stopped: bool = True) -> SampledSequence:
    return SampledSequence(
        stopped=stopped, tokens=np.array(tokens, dtype=TOKEN), logprobs=np.array(logprobs, dtype=LOGPROB)
    )


WHOLE = SampledResult(
    sequences=(_sequence([1, 2**31 - 1], [-0.1, 0.0]), _sequence([7], [-1.5], stopped=False)),
    prompt_logprobs=np.array([np.nan, -0.25], dtype=LOGPROB),
    topk=TopkLogprobs(
        tokens=np.array([[0, 0], [9, 0]], dtype=TOKEN),
        logprobs=np.array([[-99999.0, -99999.0], [-0.1, -0.5]], dtype=LOGPROB),
    ),
)


def test_the_message_is_the_one_of_the_proto_file(tmp_path: Path) -> None:
    """As protoc reads it: every name, number, type and presence."""
    made = tmp_path / "set"
    include = Path(grpc_tools.__file__).with_name("_proto")
    protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO.parent}", f"-I{include}"]
    subprocess.run([*protoc, f"--descriptor_set_out={made}", PROTO.name], check=True, timeout=60)
    (of_protoc,) = descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file
    for described in of_protoc.message_type:
        for field in described.field:
            field.ClearField("json_name")  # which protoc writes out, and which follows from the name
    assert message.file_descriptor() == of_protoc


def test_its_names_stay_free_for_the_sdk() -> None:
    """Which registers the same ones in the default pool of the process."""
    assert message.SampleResponse.DESCRIPTOR.file.pool is not descriptor_pool.Default()


def test_the_bytes_hold_the_arrays_as_the_wire_has_them() -> None:
    """Little endian, with NaN where nothing is defined; what was not asked for is absent, not empty."""
    found = message.SampleResponse.FromString(protobuf_of(WHOLE))
    assert [sequence.stop_reason for sequence in found.sequences] == [0, 1]
    assert found.sequences[0].tokens == b"\x01\0\0\0\xff\xff\xff\x7f"
    assert found.sequences[1].logprobs == b"\0\0\xc0\xbf"
    assert found.prompt_logprobs == b"\0\0\xc0\x7f\0\0\x80\xbe"
    assert (found.topk_prompt_logprobs.k, found.topk_prompt_logprobs.prompt_length) == (2, 2)
    assert found.topk_prompt_logprobs.token_ids == b"\0" * 8 + b"\x09\0\0\0\0\0\0\0"
    bare = message.SampleResponse.FromString(protobuf_of(SampledResult(sequences=WHOLE.sequences)))
    assert not bare.HasField("prompt_logprobs")
    assert not bare.HasField("topk_prompt_logprobs")


def test_json_says_the_same() -> None:
    """In the shape that the SDK once read: null where nothing is defined, and pairs for the likeliest tokens."""
    assert json.loads(json_of(protobuf_of(WHOLE))) == {
        "sequences": [
            {"stop_reason": "stop", "tokens": [1, 2**31 - 1], "logprobs": [-0.1, 0.0]},
            {"stop_reason": "length", "tokens": [7], "logprobs": [-1.5]},
        ],
        "type": "sample",
        "prompt_logprobs": [None, -0.25],
        "topk_prompt_logprobs": [None, [[9, -0.1], [0, -0.5]]],
    }
    assert set(json.loads(json_of(protobuf_of(SampledResult(sequences=()))))) == {"sequences", "type"}


def _largest(choices: int, tokens: int, places: int, topk: int, *, own: bool) -> SampledResult:
    cells = (places, topk)
    return SampledResult(
        sequences=(_sequence([1] * tokens, [-1.0] * tokens, stopped=False),) * choices,
        prompt_logprobs=np.ones(places, dtype=LOGPROB) if own else None,
        topk=TopkLogprobs(tokens=np.ones(cells, dtype=TOKEN), logprobs=np.ones(cells, dtype=LOGPROB)) if topk else None,
    )


SIZES = st.integers(1, 40) | st.integers(2**12 - 40, 2**12 + 40)


@given(st.integers(1, 200), SIZES, SIZES, st.integers(0, 5) | st.integers(127, 129), st.booleans(), st.data())
def test_no_result_is_larger_than_its_bound_and_the_largest_is_as_large(
    choices: int, tokens: int, places: int, topk: int, own: bool, data: Any
) -> None:
    """The bound is exact: it is what room is kept for, and a store that keeps too much turns away what would fit."""
    asked = asked_for(choices, max_tokens=tokens, prompt=[1] * places, prompt_logprobs=own, topk=topk)
    assert len(protobuf_of(_largest(choices, tokens, places, topk, own=own))) == cost_bytes(asked)
    fewer = [data.draw(st.integers(1, tokens)) for _ in range(min(choices, 3))]
    sequences = tuple(_sequence([1] * n, [-1.0] * n, stopped=data.draw(st.booleans())) for n in fewer)
    assert len(protobuf_of(SampledResult(sequences=sequences))) <= cost_bytes(asked)


@pytest.mark.parametrize("tokens", [15, 16, 31, 32, 2**12, 2**19])
def test_the_bound_is_exact_where_a_length_becomes_one_byte_longer(tokens: int) -> None:
    """Where 7 bits more are needed for it."""
    assert len(protobuf_of(_largest(1, tokens, 1, 0, own=False))) == cost_bytes(asked_for(max_tokens=tokens))
