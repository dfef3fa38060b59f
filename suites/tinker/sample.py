"""`tinker_public.SampleResponse` as a caller reads it off the wire (protobuf, proto3).

Written apart from the forwarder, which encodes it: a mistake that both made would be seen by neither.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5  # protobuf wire types
_FIXED_BYTES = {_I64: 8, _I32: 4}
_LONGEST_VARINT = 10  # bytes, of 64 bits


class NoSampleError(ValueError):
    """Bytes that are no SampleResponse. The message says what is wrong with them."""


class StopReason(IntEnum):
    """Why a sequence ended."""

    STOP = 0
    LENGTH = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """One sampled sequence; logprobs None: none were sent."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...] | None = None
    stop_reason: StopReason = StopReason.STOP


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """Row-major, prompt_length rows of k."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    k: int
    prompt_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A whole result. prompt_logprobs: NaN where one is undefined."""

    sequences: tuple[Sequence, ...]
    prompt_logprobs: tuple[float, ...] | None = None
    topk: TopK | None = None
    prompt_cache_hit_tokens: int = 0


def sample_in(data: bytes) -> Sample:
    """The result that these bytes hold. Raises NoSampleError."""
    sequences: list[Sequence] = []
    prompt_logprobs, topk, cached = None, None, 0
    for field, value in _fields(data):
        match field, value:
            case 1, bytes(inner):
                sequences.append(_sequence_in(inner))
            case 2, bytes(packed):
                prompt_logprobs = _floats(packed)
            case 3, bytes(inner):
                topk = _topk_in(inner)
            case 4, int(number):
                cached = number
            case 1 | 2 | 3 | 4, _:
                raise NoSampleError(f"field {field} of another type than its message says")
    return Sample(
        sequences=tuple(sequences), prompt_logprobs=prompt_logprobs, topk=topk, prompt_cache_hit_tokens=cached
    )


def _sequence_in(data: bytes) -> Sequence:
    tokens: tuple[int, ...] = ()
    logprobs, reason = None, 0
    for field, value in _fields(data):
        match field, value:
            case 1, int(number):
                reason = number
            case 2, bytes(packed):
                tokens = _ints(packed)
            case 3, bytes(packed):
                logprobs = _floats(packed)
            case 1 | 2 | 3, _:
                raise NoSampleError(f"field {field} of a sequence of another type than its message says")
    if reason not in tuple(StopReason):
        raise NoSampleError(f"stop_reason {reason!r}; expected 0 or 1")
    if logprobs is not None and len(logprobs) != len(tokens):
        raise NoSampleError(f"{len(logprobs)} logprobs of {len(tokens)} tokens")
    return Sequence(tokens=tokens, logprobs=logprobs, stop_reason=StopReason(reason))


def _topk_in(data: bytes) -> TopK:
    found: dict[int, int | bytes] = dict(_fields(data))
    match found.get(1, b""), found.get(2, b""), found.get(3, 0), found.get(4, 0):
        case bytes(ids), bytes(logprobs), int(k), int(length):
            topk = TopK(token_ids=_ints(ids), logprobs=_floats(logprobs), k=k, prompt_length=length)
        case _:
            raise NoSampleError("topk_prompt_logprobs of other types than its message says")
    if not len(topk.token_ids) == len(topk.logprobs) == topk.k * topk.prompt_length:
        sizes = f"{len(topk.token_ids)} ids, {len(topk.logprobs)} logprobs"
        raise NoSampleError(f"topk_prompt_logprobs with {sizes}; expected {topk.prompt_length} x {topk.k} of each")
    return topk


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field; a parser passes over what it does not know."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            number, at = _varint(data, at)
            yield field, number
            continue
        if kind == _LEN:
            length, at = _varint(data, at)
        elif kind in _FIXED_BYTES:
            length = _FIXED_BYTES[kind]
        else:
            raise NoSampleError(f"wire type {kind} at byte {at}")
        if field == 0 or at + length > len(data):
            raise NoSampleError(f"field {field} of {length} bytes at byte {at} of {len(data)}")
        if kind == _LEN:
            yield field, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for n in range(_LONGEST_VARINT):
        if at + n >= len(data):
            break
        number |= (data[at + n] & 0x7F) << (7 * n)
        if data[at + n] < 0x80:
            return number, at + n + 1
    raise NoSampleError(f"no number at byte {at} of {len(data)}")


def _ints(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{_count(packed)}i", packed)


def _floats(packed: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{_count(packed)}f", packed)


def _count(packed: bytes) -> int:
    if len(packed) % 4:
        raise NoSampleError(f"an array of {len(packed)} bytes; expected a multiple of 4")
    return len(packed) // 4
