"""How large an encoded result can be: known before anything runs, so that room for it can be kept.

protobuf writes a field as its tag (one byte for the fields below 16, all that there are), the length of what follows
as a varint, and what follows.
"""

from forwarder.sampling.result import LOGPROB, TOKEN, SampleAsked


def cost_bytes(asked: SampleAsked) -> int:
    """The size of the largest result to that request, which is reached when each sequence has its greatest length."""
    places = asked.prompt.size
    each = 2 + _field(asked.max_tokens * TOKEN.itemsize) + _field(asked.max_tokens * LOGPROB.itemsize)
    cost = asked.choices * _field(each)
    if asked.prompt_logprobs:
        cost += _field(places * LOGPROB.itemsize)
    if asked.topk:
        cells = places * asked.topk
        matrices = _field(cells * TOKEN.itemsize) + _field(cells * LOGPROB.itemsize)
        cost += _field(matrices + _number(asked.topk) + _number(places))
    return cost


def _field(size: int) -> int:
    return 1 + _varint(size) + size


def _number(value: int) -> int:
    return 1 + _varint(value) if value else 0  # proto3 leaves out a number that is 0


def _varint(value: int) -> int:
    """Seven bits a byte."""
    return max(1, -(-value.bit_length() // 7))
