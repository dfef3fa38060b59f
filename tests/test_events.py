"""A stream as its caller reads it: what counts as whole, and what of it was wrong."""

import pytest

from fake_router.forms import DONE, in_form
from faults.form import Api, Form
from suites.events import Streamed, streamed_in
from suites.history import Arrival, Kind
from suites.outcomes import outcome_of
from suites.reading import Reply

STREAM = Form(stream=True)
WHOLE = in_form(STREAM, 1, 2, 1)
EVENT = b'data: {"choices":[{"index":0,"text":"a","token_ids":[1,2]}]}\n\n'
LAST = b'data: {"choices":[{"index":0,"text":"b","token_ids":[3],"finish_reason":"stop"}]}\n\n'
ERROR = b'data: {"error":{"message":"dead"}}\n\n'
EVENT_STREAM = (("content-type", "text/event-stream; charset=utf-8"),)


def _read(body: bytes) -> Streamed:
    return streamed_in(body, Api.COMPLETIONS)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_tokens_and_texts_are_joined_choice_by_choice(end: bytes) -> None:
    """Comments and other fields are passed over, and a BOM; lines end with LF, CRLF or CR."""
    streamed = _read(b"\xef\xbb\xbf" + (EVENT + b": ping\n\nevent: x\n" + LAST + DONE).replace(b"\n", end))
    assert streamed.choices == {0: ((1, 2, 3), "ab")}
    assert (streamed.events, streamed.complete) == (2, True)
    assert streamed.says == "2 events, [DONE]"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "0 events"),
        (EVENT + LAST, "2 events"),
        (EVENT + DONE, "1 event, [DONE]"),
        (EVENT + LAST + ERROR + DONE, "3 events, an error event, [DONE]"),
        (EVENT + LAST[:20], "1 event, bytes that are no whole event"),
        (EVENT + b"data: {\n\n" + LAST + DONE, "an event that holds no part of an answer"),
        (EVENT + b"data: null\n\n" + LAST + DONE, "an event that holds no part of an answer"),
        (EVENT + b'data: {"choices":[{"text":"\xff"}]}\n\n' + LAST + DONE, "an event that holds no part of an answer"),
        (EVENT + b"event: error\ndata: dead\n\n" + LAST + DONE, "3 events, an error event, [DONE]"),
        (b"data: " + b"[" * 100_000 + b"\n\n" + LAST + DONE, "an event that holds no part of an answer"),
        (b"<html></html>", "bytes that are no whole event"),
        (b'{"error":{"message":"dead"}}', "0 events, an error event"),
        (b'{"choices":[]}', "bytes that are no whole event"),
    ],
)
def test_what_is_not_whole_is_no_success_and_says_why(body: bytes, says: str) -> None:
    """Whatever else it is."""
    streamed = _read(body)
    assert not streamed.complete
    assert says in streamed.says


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(arrival=Arrival.WHOLE, status=200, headers=EVENT_STREAM, body=WHOLE), Kind.OK),
        (Reply(arrival=Arrival.CUT, status=200, headers=EVENT_STREAM, body=WHOLE), Kind.UNKNOWN),
        (Reply(arrival=Arrival.HUNG, status=200, headers=EVENT_STREAM, body=WHOLE), Kind.UNKNOWN),
        (Reply(arrival=Arrival.WHOLE, status=200, headers=(("content-type", "text/html"),), body=WHOLE), Kind.UNKNOWN),
        (Reply(arrival=Arrival.WHOLE, status=200, body=WHOLE), Kind.UNKNOWN),
        (Reply(arrival=Arrival.WHOLE, status=200, headers=EVENT_STREAM, body=EVENT + LAST), Kind.UNKNOWN),
        (Reply(arrival=Arrival.WHOLE, status=502, headers=EVENT_STREAM, body=WHOLE), Kind.UNKNOWN),
    ],
)
def test_only_a_whole_stream_of_events_is_a_success(reply: Reply, kind: Kind) -> None:
    """By its framing, its type and its content."""
    assert outcome_of(reply, 1, STREAM, (), 0).kind is kind
