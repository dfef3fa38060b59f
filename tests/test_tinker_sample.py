"""What a caller reads off the bytes of a result, and of the replies to submits and polls."""

import struct

import pytest

from suites.history import Arrival
from suites.reading import Reply
from suites.tinker.answers import (
    FutureFailed,
    Gone,
    Lost,
    NotYet,
    PollAnswer,
    Refused,
    Sampled,
    Size,
    Submitted,
    poll_answer,
    submit_answer,
)
from suites.tinker.sample import NoSampleError, Sample, Sequence, StopReason, TopK, sample_in

# protobuf, by hand: key = field << 3 | wire type; tokens 1, -2; logprobs -0.5, -0.25; reason LENGTH.
SEQUENCE = b"\x08\x01" + b"\x12\x08" + struct.pack("<2i", 1, -2) + b"\x1a\x08" + struct.pack("<2f", -0.5, -0.25)
TOPK = b"\x0a\x04" + struct.pack("<i", 9) + b"\x12\x04" + struct.pack("<f", -1.5) + b"\x18\x01" + b"\x20\x01"
PROMPT = struct.pack("<f", -2.0)
ONE = b"\x0a" + bytes([len(SEQUENCE)]) + SEQUENCE
PROTOBUF = (("content-type", "application/x-protobuf"),)


def test_a_result_is_read_field_by_field_and_unknown_fields_are_passed_over() -> None:
    """Every field of the message, in any order, beside fixed and varint fields of a later version."""
    unknown = b"\x29" + bytes(8) + b"\x35" + bytes(4) + b"\x38\x96\x01"
    data = b"\x20\xac\x02" + unknown + ONE + b"\x12\x04" + PROMPT + b"\x1a" + bytes([len(TOPK)]) + TOPK + b"\x0a\x00"
    assert sample_in(data) == Sample(
        sequences=(
            Sequence(tokens=(1, -2), logprobs=(-0.5, -0.25), stop_reason=StopReason.LENGTH),
            Sequence(tokens=()),
        ),
        prompt_logprobs=(-2.0,),
        topk=TopK(token_ids=(9,), logprobs=(-1.5,), k=1, prompt_length=1),
        prompt_cache_hit_tokens=300,
    )
    assert sample_in(b"") == Sample(sequences=())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (ONE[:-1], "of 22 bytes"),
        (b"\x0a", "no number"),
        (b"\x0a" + b"\xff" * 11, "no number"),
        (b"\x08\x01", "field 1 of another type"),
        (b"\x0b", "wire type 3"),
        (b"\x02\x00", "field 0"),
        (b"\x0a\x05\x12\x03abc", "an array of 3 bytes"),
        (b"\x0a\x02\x08\x02", "stop_reason 2"),
        (b"\x0a\x02\x10\x02", "field 2 of a sequence"),
        (b"\x0a\x06\x1a\x04abcd", "1 logprobs of 0 tokens"),
        (b"\x1a\x02\x18\x01\x0a\x00", None),
        (b"\x1a\x04\x18\x01\x20\x01", "expected 1 x 1 of each"),
        (b"\x1a\x02\x08\x01", "topk_prompt_logprobs of other types"),
        (b"<html>", "wire type 4"),
    ],
)
def test_bytes_that_are_no_result_are_refused_with_what_is_wrong(data: bytes, says: str | None) -> None:
    """No part of them is taken for a result."""
    if says is None:
        assert sample_in(data).topk == TopK(token_ids=(), logprobs=(), k=1, prompt_length=0)
        return
    with pytest.raises(NoSampleError, match=says):
        sample_in(data)


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (200, PROTOBUF, ONE, Sampled),
        (200, (), ONE, Refused),
        (200, PROTOBUF, ONE[:-1], Refused),
        (200, (*PROTOBUF, *PROTOBUF), ONE, Refused),
        (200, (), b'{"type":"try_again"}', NotYet),
        (408, (), b"{}", NotYet),
        (502, PROTOBUF, b"", NotYet),
        (200, (), b'{"status":"complete_metadata","response_payload_size":9}', Size),
        (200, (), b'{"error":"no","category":"server"}', FutureFailed),
        (200, (), b'{"error":"no"}', Refused),
        (200, (), b"[1]", Refused),
        (200, (), b"<html>", Refused),
        (404, (), b'{"error":"delivered and evicted"}', Gone),
        (410, (), b"{}", Refused),
        (422, (), b"", Refused),
    ],
)
def test_every_reply_to_a_poll_means_one_thing(
    status: int, headers: tuple[tuple[str, str], ...], body: bytes, kind: type[PollAnswer]
) -> None:
    """As docs/subjects.md says."""
    reply = Reply(arrival=Arrival.WHOLE, status=status, headers=headers, body=body)
    answer = poll_answer(reply)
    assert type(answer) is kind
    assert answer.reply is reply


@pytest.mark.parametrize("arrival", [arrival for arrival in Arrival if arrival is not Arrival.WHOLE])
def test_what_has_not_arrived_whole_is_no_answer(arrival: Arrival) -> None:
    """Whatever it looks like."""
    reply = Reply(arrival=arrival, status=200, headers=PROTOBUF, body=ONE)
    assert poll_answer(reply) == Lost(reply=reply)
    assert submit_answer(reply) == Lost(reply=reply)


@pytest.mark.parametrize(
    ("status", "body", "request_id"),
    [
        (200, b'{"request_id":"12","more":1}', "12"),
        (200, b'{"request_id":12}', None),
        (200, b"{}", None),
        (503, b'{"request_id":"12"}', None),
    ],
)
def test_a_submit_is_taken_on_only_with_an_id_that_is_a_text(status: int, body: bytes, request_id: str | None) -> None:
    """An int, or none, is fatal to the SDK."""
    answer = submit_answer(Reply(arrival=Arrival.WHOLE, status=status, body=body))
    match answer:
        case Submitted(request_id=taken):
            assert taken == request_id
        case Refused(says=says):
            assert request_id is None
            assert says.startswith(f"{status} with ")
        case _:
            raise AssertionError(answer)
