"""How fast is a completion turned into the SDK's bytes? `python -m benchmarks.codec_rate` measures it against the
obvious way: `json`, then protobuf field by field. It also says how much memory a stored result takes.

Exit codes: 0 fast enough, 1 not. Both read the same body, in turn, and must make the same bytes of it.
"""

import gc
import json
import random
import statistics
import struct
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from benchmarks.ratio import ratio_of
from forwarder.reply import Reply
from forwarder.sampling.cost import cost_bytes
from forwarder.sampling.decode import sampled_of
from forwarder.sampling.encode import protobuf_of
from forwarder.sampling.message import STOP_REASON_LENGTH, STOP_REASON_STOP, SampleResponse
from forwarder.sampling.result import TOKEN, SampleAsked

TARGET = 5.0  # times the obvious way
TOKENS = 1000
ROUNDS, EACH = 15, 100
STORED = 500

ASKED = SampleAsked(choices=1, max_tokens=TOKENS, prompt=np.array([1], dtype=TOKEN), prompt_logprobs=False, topk=0)


def body_of(*, brackets: bool) -> bytes:
    """What vLLM writes for logprobs 1. brackets: its text has some, so that every number is looked at by itself."""
    rng = random.Random(7)
    ids = [rng.randrange(150_000) for _ in range(TOKENS)]
    logprobs = [-rng.expovariate(2.0) for _ in ids]
    names = [f" w{token}" for token in ids]
    choice = {
        "index": 0,
        "text": "".join(names) + "[0]" * brackets,
        "logprobs": {
            "text_offset": [7 * at for at in range(TOKENS)],
            "token_logprobs": logprobs,
            "tokens": names,
            "top_logprobs": [{name: logprob} for name, logprob in zip(names, logprobs, strict=True)],
        },
        "finish_reason": "length",
        "stop_reason": None,
        "prompt_logprobs": None,
        "token_ids": ids,
        "prompt_token_ids": [1],
    }
    usage = {"prompt_tokens": 1, "completion_tokens": TOKENS, "total_tokens": TOKENS + 1}
    frame = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
    return json.dumps(frame | {"usage": usage}, separators=(",", ":")).encode()


def obviously(body: bytes) -> bytes:
    """What is written first: lists, and a field at a time. It checks far less than what it is measured against."""
    response = SampleResponse()
    for choice in json.loads(body)["choices"]:
        tokens, logprobs = choice["token_ids"], choice["logprobs"]["token_logprobs"]
        if not tokens or len(tokens) != len(logprobs):
            raise ValueError("no tokens, or not as many logprobs")
        sequence = response.sequences.add()
        sequence.stop_reason = STOP_REASON_STOP if choice["finish_reason"] == "stop" else STOP_REASON_LENGTH
        sequence.tokens = b"".join(struct.pack("<i", token) for token in tokens)
        sequence.logprobs = b"".join(struct.pack("<f", logprob) for logprob in logprobs)
    data: bytes = response.SerializeToString()
    return data


def measured(body: bytes) -> bytes:
    """What the forwarder does."""
    reply = Reply(url="http://r", status=200, body=body, content_type="application/json")
    return protobuf_of(sampled_of(reply, ASKED))


def main() -> int:
    """Measure, print the ratios with their spread and the memory; 1 when one of them is below the target."""
    ratios = [_compared(body_of(brackets=brackets), brackets=brackets) for brackets in (False, True)]
    _memory(body_of(brackets=False))
    print(f"at least {TARGET:g} times as fast as the obvious way expected")
    return 0 if min(ratios) >= TARGET else 1


def _compared(body: bytes, *, brackets: bool) -> float:
    if measured(body) != obviously(body):
        raise SystemExit("the two ways make different bytes; expected the same")
    pairs = [(_us(measured, body), _us(obviously, body)) for _ in range(ROUNDS)]
    ratios = [obvious / ours for ours, obvious in pairs]
    ours, obvious = (statistics.median(side) for side in zip(*pairs, strict=True))
    median = statistics.median(ratios)
    print(
        f"{TOKENS} tokens with logprobs, {len(body)} bytes, {'with' if brackets else 'without'} brackets in its text: "
        f"{ours:.0f} us of CPU, the obvious way {obvious:.0f} us: {median:.1f} times as fast, median of {ROUNDS} "
        f"rounds of {EACH} ({min(ratios):.1f} to {max(ratios):.1f})"
    )
    of = f"{TOKENS} tokens, {'with' if brackets else 'without'} brackets in the text"
    print(ratio_of(f"CPU of the obvious way to decode and encode, to ours: {of}", ratios, least=TARGET).line)
    return median


def _us(way: Callable[[bytes], bytes], body: bytes) -> float:
    began = time.process_time()  # not the clock: others use this machine too
    for _ in range(EACH):
        way(body)
    return (time.process_time() - began) / EACH * 1e6


def _memory(body: bytes) -> None:
    """Of what a store keeps, the bytes themselves, against the lists that the obvious way would keep."""
    payloads, lists = _kept(lambda: measured(body)), _kept(lambda: json.loads(body)["choices"][0])
    print(
        f"memory per stored result: {payloads:.0f} bytes (the bound that room is kept for: {cost_bytes(ASKED)}); the "
        f"decoded choice: {lists:.0f}, {lists / payloads:.1f} times as much"
    )


def _kept(make: Callable[[], object]) -> float:
    make()  # what it allocates once is no part of it
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [make() for _ in range(STORED)]
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / len(kept)


if __name__ == "__main__":
    sys.exit(main())
