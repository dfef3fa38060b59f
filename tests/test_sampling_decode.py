"""The two readers of a completion: what the quick one takes, `validate` takes, and understands in the same way."""

from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given

from faults.contents import soundness_of
from faults.vocabulary import STREAM_CONTENTS, Content, Soundness
from forwarder.sampling.decode import sampled_of, slowly
from forwarder.sampling.quick import quickly
from forwarder.sampling.result import SampleAsked, SampledSequence
from forwarder.validate import InvalidResultError, completion_of
from tests.completion_bodies import JSON_TYPE, asked_for, of_the_router, plain, reply_of, spoilt

CONTENTS = [content for content in Content if content not in STREAM_CONTENTS]
_CHOICE = b'{"index":0,"text":"","finish_reason":"stop","token_ids":%s,"logprobs":{"token_logprobs":%s}}'


def _said(sequences: tuple[SampledSequence, ...]) -> list[tuple[bool, bytes, bytes]]:
    assert all(str(s.tokens.dtype) == "int32" and str(s.logprobs.dtype) == "float32" for s in sequences)
    return [(s.stopped, s.tokens.tobytes(), s.logprobs.tobytes()) for s in sequences]


def _compared(body: bytes, asked: SampleAsked, type_: str = JSON_TYPE) -> tuple[bool, bool]:
    """Whether it is a result, and whether the quick reader took it; both readers and `completion_of` must agree."""
    reply, taken = reply_of(body, type_), quickly(body, asked)
    try:
        right: list[tuple[bool, bytes, bytes]] | None = _said(slowly(reply, asked))
    except InvalidResultError:
        right = None
        with pytest.raises(InvalidResultError):
            sampled_of(reply, asked)
    else:
        assert _said(sampled_of(reply, asked).sequences) == right
        assert len(completion_of(reply, asked.router).choices) == asked.choices
    if taken is not None and type_ == JSON_TYPE:
        assert _said(taken) == right
    return right is not None, taken is not None


@pytest.mark.parametrize("choices", [1, 3])
@pytest.mark.parametrize("content", CONTENTS)
def test_both_take_and_refuse_the_same_of_all_that_the_router_sends(content: Content, choices: int) -> None:
    """What is wrong is refused, and what is sound is taken, by the quick reader too."""
    type_, body = of_the_router(content, choices)
    right, taken = _compared(body, asked_for(choices), type_)
    match soundness_of(content):
        case Soundness.SOUND:
            assert right
            assert taken
        case Soundness.WRONG:
            assert not right
        case Soundness.UNPROVABLE:
            assert right is (content is Content.FOREIGN)


ARRAYS = [
    (b"[[1],[2]]", b"[0,0]"),
    (b"[1,2]", b"[[0],[0]]"),
    (b"[1,[2]]", b"[0,0]"),
    (b"[[1,2],[]]", b"[0,0]"),
    (b"[1,-1]", b"[0,0]"),
    (b"[1,2147483647]", b"[0,0]"),
    (b"[1,2147483648]", b"[0,0]"),
    (b"[1,18446744073709551616]", b"[0,0]"),
    (b"[1,2.0]", b"[0,0]"),
    (b"[1,true]", b"[0,0]"),
    (b"[1,null]", b"[0,0]"),
    (b'[1,"2"]', b"[0,0]"),
    (b"[]", b"[]"),
    (b"[1,2]", b"[0]"),
    (b"[1,2]", b"[0,NaN]"),
    (b"[1,2]", b"[0,-1e999]"),
    (b"[1,2]", b"[0,-1e39]"),
    (b"[1,2]", b"[0,-1e-999]"),
    (b"[1,2]", b"[0,-18446744073709551616]"),
    (b"[1,2]", b"[0,null]"),
    (b"[1,2]", b"[0,false]"),
    (b"[1,2,3,4,5,6,7,8,9]", b"[0,0,0,0,0,0,0,0,0]"),
]


@pytest.mark.parametrize(("ids", "logprobs"), ARRAYS)
@pytest.mark.parametrize("more", [b"", b', "seen": ["[", [1]]'])
def test_both_take_and_refuse_the_same_arrays(ids: bytes, logprobs: bytes, more: bytes) -> None:
    """Nested ones, whose numbers are as many as they should be, among them; also where other arrays are about."""
    right, taken = _compared(b'{"choices":[' + _CHOICE % (ids, logprobs) + b"]" + more + b"}", asked_for())
    known = (ids, logprobs) in ((b"[1,2147483647]", b"[0,0]"), (b"[1,2]", b"[0,-1e-999]"))
    assert taken is known
    assert right is (known or logprobs == b"[0,-18446744073709551616]")


WHOLE = _CHOICE % (b"[1]", b"[0]")
BODIES: list[tuple[bytes, bool]] = [
    (b'{"choices":[%s]}' % WHOLE, True),
    (b' {"choices" :\t[%s]\r\n} ' % WHOLE, True),
    (b'\xef\xbb\xbf{"choices":[%s]}' % WHOLE, False),
    (b'{"choices":[%s]}x' % WHOLE, False),
    (b'{"choices":[%s]}\x00' % WHOLE, False),
    (b'{"choices":[%s],"x":"\xff"}' % WHOLE, False),
    (b'{"choices":[%s],"x":"\\ud800"}' % WHOLE, False),
    (b'{"choices":[%s],"error":null,"id":null}' % WHOLE, True),
    (b'{"choices":[%s],"error":false}' % WHOLE, False),
    (b'{"choices":[%s],"id":7}' % WHOLE, False),
    (b'{"choices":[],"choices":[%s]}' % WHOLE, True),
    (b'{"choices":[%s],"choices":[]}' % WHOLE, False),
    (b'{"choices":[%s],"\\u0063hoices":[]}' % WHOLE, False),
    (b'{"choices":[%s]}' % WHOLE.replace(b"[1]", b'[1],"token_ids":[1,2]'), False),
    (b'{"choices":[%s]}' % WHOLE.replace(b"[1]", b'[1,2],"token_ids":[1]'), True),
    (b'{"choices":[%s]}' % WHOLE.replace(b'"index":0,', b""), True),
    (b'{"choices":[%s]}' % WHOLE.replace(b'"index":0', b'"index":false'), False),
    (b'{"choices":[%s]}' % WHOLE.replace(b'"text":"",', b""), False),
    (b'{"choices":[%s],"x":' % WHOLE + b'{"x":' * 1023 + b"1" + b"}" * 1024, True),
    (b'{"choices":[%s],"x":' % WHOLE + b'{"x":' * 1030 + b"1" + b"}" * 1031, False),
    (b"[]", False),
    (b"", False),
]


@pytest.mark.parametrize(("body", "is_right"), BODIES)
def test_both_take_and_refuse_the_same_bodies(body: bytes, is_right: bool) -> None:
    """A byte order mark, keys that come twice, what stands behind the value, and depth."""
    assert _compared(body, asked_for())[0] is is_right


@given(spoilt())
@example((2, plain(2)))
def test_both_take_and_refuse_the_same_of_whatever_is_spoilt(drawn: tuple[int, bytes]) -> None:
    """In a value, in a key, in a byte."""
    choices, body = drawn
    event(str(_compared(body, asked_for(choices))))


@pytest.mark.parametrize("changes", [{}, {"token_ids": [31_337, 7, 9], "prompt_token_ids": [3, 5, 6], "text": "[" * 9}])
def test_what_vllm_writes_is_read_quickly_whatever_brackets_its_texts_hold(changes: dict[str, Any]) -> None:
    """In the order of the indices, as float32."""
    swapped = plain(2, **changes).replace(b'"index": 0', b'"index": 2').replace(b'"index": 1', b'"index": 0')
    found = quickly(swapped.replace(b'"index": 2', b'"index": 1'), asked_for(2))
    assert found is not None
    assert [int(sequence.tokens[2]) for sequence in found] == ([9, 9] if changes else [1, 0])
    assert not found[0].stopped
    assert np.array_equal(found[0].logprobs, np.array([-0.5, -1e-3, 0], dtype=np.float32))


def test_no_more_tokens_than_room_was_kept_for() -> None:
    """max_tokens is the bound; a router that does not keep it has not done what was asked."""
    assert sampled_of(reply_of(plain()), asked_for(max_tokens=3)).sequences[0].tokens.size == 3
    with pytest.raises(InvalidResultError, match="3 tokens; expected at most 2, as was asked for"):
        sampled_of(reply_of(plain()), asked_for(max_tokens=2))


def test_a_logprob_that_no_float32_can_hold_is_named() -> None:
    """Infinite in float32, which the SDK would take for a logprob."""
    with pytest.raises(InvalidResultError, match=r"no float32 can hold; the body begins"):
        sampled_of(reply_of(plain(logprobs={"token_logprobs": [-1, -1e39, 0]})), asked_for())
