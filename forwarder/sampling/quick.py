"""The quick reader of completions: from the bytes into arrays, for the plainest of bodies. Of others it says nothing.

simdjson checks the whole body (UTF-8, no NaN, nothing behind the value). Beyond that, what it takes and `shapes` does
not, and what both take and understand in two ways, must be caught here: a byte order mark, a key that comes twice (the
first counts for simdjson, the last for orjson), and arrays inside of arrays, which `as_buffer` makes flat.

A parser is made for each body. It may not be used again while something of its last document lives, and one that is
kept would keep the memory of the largest body that ever came; making one costs nothing that can be measured.
"""

from typing import Any

import numpy as np
import simdjson

from forwarder.sampling.narrow import narrow
from forwarder.sampling.result import MAX_TOKEN, TOKEN, Logprobs, SampleAsked, SampledSequence, Tokens

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OPENING = ord("[")
_STOPPED = {"stop": True, "length": False}


class _DoubtError(ValueError):
    """It may be right, and it may be wrong."""


def quickly(body: bytes, asked: SampleAsked) -> tuple[SampledSequence, ...] | None:
    """The sequences, in the order of their indices. None: the body is wrong, or it is right in an unusual way."""
    if body.startswith(_BYTE_ORDER_MARK):
        return None
    try:
        return _sequences(body, asked)
    except (ValueError, TypeError, KeyError, RuntimeError):  # simdjson's, and our own
        return None


def _sequences(body: bytes, asked: SampleAsked) -> tuple[SampledSequence, ...]:
    result = _fields(simdjson.Parser().parse(body))
    _expect(result.get("error") is None and isinstance(result.get("id"), str | None))
    choices = _array(result["choices"])
    _expect(len(choices) == asked.choices)
    opened, found, numbers = 1, [], []
    for choice in choices:
        fields = _fields(choice)
        beside = _fields(fields["logprobs"])
        opened += _arrays_in(fields) + _arrays_in(beside)
        index = fields["index"]
        _expect(isinstance(fields["text"], str) and type(index) is int)
        ids, logprobs = _array(fields["token_ids"]), _array(beside["token_logprobs"])
        numbers += [ids, logprobs]
        sequence = SampledSequence(
            stopped=_STOPPED[fields["finish_reason"]], tokens=_tokens(ids), logprobs=_logprobs(logprobs)
        )
        _expect(0 < sequence.tokens.size <= asked.max_tokens and sequence.tokens.size == sequence.logprobs.size)
        found.append((index, sequence))
    _expect(_opened_in(body) == opened or all(_is_flat(array) for array in numbers))
    found.sort(key=lambda indexed: indexed[0])
    _expect([index for index, _ in found] == list(range(len(found))))
    return tuple(sequence for _, sequence in found)


def _expect(right: bool) -> None:
    if not right:
        raise _DoubtError


def _fields(value: Any) -> dict[str, Any]:
    """Of an object, each of whose keys comes once. Arrays and objects in it are not converted."""
    _expect(isinstance(value, simdjson.Object))
    items = list(value.items())
    fields = dict(items)
    _expect(len(fields) == len(items))
    return fields


def _array(value: Any) -> simdjson.Array:
    if not isinstance(value, simdjson.Array):
        raise _DoubtError
    return value


def _tokens(array: simdjson.Array) -> Tokens:
    """`u`: a number that is negative, or no integer, is refused."""
    wide = np.frombuffer(array.as_buffer(of_type="u"), dtype=np.uint64)
    _expect(wide.size == 0 or wide.max() <= MAX_TOKEN)
    return wide.astype(TOKEN)


def _logprobs(array: simdjson.Array) -> Logprobs:
    found = narrow(np.frombuffer(array.as_buffer(of_type="d"), dtype=np.float64))
    if found is None:
        raise _DoubtError
    return found


def _arrays_in(fields: dict[str, Any]) -> int:
    return sum(isinstance(value, simdjson.Array) for value in fields.values())


def _opened_in(body: bytes) -> int:
    """How many arrays the body can have at most: outside of its texts, this byte opens one. Where it has no more than
    were counted, none of them lies in another.
    """
    return int(np.count_nonzero(np.frombuffer(body, dtype=np.uint8) == _OPENING))


def _is_flat(array: simdjson.Array) -> bool:
    return not any(isinstance(element, simdjson.Array) for element in array)
