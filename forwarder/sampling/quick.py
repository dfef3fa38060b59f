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
# Other arrays that vLLM writes: where one more comes, or a text has a bracket, every number is looked at by itself.
_BESIDE_IDS = ("prompt_token_ids", "prompt_logprobs")
_BESIDE_LOGPROBS = ("tokens", "top_logprobs", "text_offset")


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
    result = _Object(simdjson.Parser().parse(body))
    _expect(result.get("error") is None and isinstance(result.get("id"), str | None))
    choices = _array(result.get("choices"))
    _expect(len(choices) == asked.choices)
    found, numbers, opened = [], [], 1
    for each in choices:
        choice = _Object(each)
        logprobs = _Object(choice.get("logprobs"))
        index, ids, of_ids = (
            choice.get("index"),
            _array(choice.get("token_ids")),
            _array(logprobs.get("token_logprobs")),
        )
        _expect(type(index) is int and isinstance(choice.get("text"), str))
        opened += 2 + choice.arrays(_BESIDE_IDS) + logprobs.arrays(_BESIDE_LOGPROBS)
        numbers += [ids, of_ids]
        sequence = SampledSequence(
            stopped=_STOPPED[choice.get("finish_reason")], tokens=_tokens(ids), logprobs=_logprobs(of_ids)
        )
        _expect(0 < sequence.tokens.size <= asked.max_tokens and sequence.tokens.size == sequence.logprobs.size)
        found.append((index, sequence))
    _expect(_opened_in(body) == opened or all(_is_flat(array) for array in numbers))
    found.sort(key=lambda indexed: indexed[0])
    _expect([index for index, _ in found] == list(range(len(found))))
    return tuple(sequence for _, sequence in found)


class _Object:
    """An object, each of whose keys comes once. What it holds is converted when it is asked for."""

    __slots__ = ("_keys", "_object")

    def __init__(self, value: Any) -> None:
        _expect(isinstance(value, simdjson.Object))
        keys = list(value)
        self._object, self._keys = value, set(keys)
        _expect(len(self._keys) == len(keys))

    def get(self, key: str) -> Any:
        """None where there is none."""
        return self._object[key] if key in self._keys else None

    def arrays(self, keys: tuple[str, ...]) -> int:
        """How many of these are arrays."""
        return sum(isinstance(self.get(key), simdjson.Array) for key in keys)


def _expect(right: bool) -> None:
    if not right:
        raise _DoubtError


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


def _opened_in(body: bytes) -> int:
    """How many arrays the body can have at most: outside of its texts, this byte opens one. Where there are no more of
    it than arrays that were seen, none lies in one of those.
    """
    return int(np.count_nonzero(np.frombuffer(body, dtype=np.uint8) == _OPENING))


def _is_flat(array: Any) -> bool:
    """The elements of an Array, each made a Python object, can be added up: arrays among them cannot. No other way
    of looking at each of them is as quick.
    """
    try:
        sum(array)
    except TypeError:
        return False
    return True
