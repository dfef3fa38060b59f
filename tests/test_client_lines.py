"""What an adapter says of an operation becomes its outcome, and what is no outcome is refused in words."""

import json

import pytest

from faults.evidence import Marker
from faults.form import COMPLETION, STREAM, Form
from suites.client_lines import Asked, LineError, line_of, outcome_in, said_in
from suites.history import Arrival, Kind, Outcome

NOT_SENT = (Marker(status=503, body="not sent"),)
RETURNED = {"choices": [{"token_ids": [1, 2], "text": "ab"}]}
EVENTS = [
    {"choices": [{"index": 0, "token_ids": [1], "text": "a", "finish_reason": None}]},
    {"choices": [{"index": 0, "token_ids": [2], "text": "b", "finish_reason": "stop"}]},
]
SSE = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS) + "data: [DONE]\n\n"
OF_EVENTS = {"Content-Type": "text/event-stream"}


def _outcome(said: dict[str, object], form: Form = COMPLETION) -> Outcome:
    return outcome_in(said_in(json.dumps({"id": 1, **said}).encode() + b"\n"), 7, form, NOT_SENT, 5)


@pytest.mark.parametrize(
    ("said", "form", "kind", "arrival"),
    [
        ({"status": 200, "body": "{}"}, COMPLETION, Kind.OK, Arrival.WHOLE),
        ({"status": 503, "body": "not sent"}, COMPLETION, Kind.FAILED, Arrival.WHOLE),
        ({"status": 503, "body": "lost"}, COMPLETION, Kind.UNKNOWN, Arrival.WHOLE),
        ({"status": 200, "body": "{", "error": "Cut"}, COMPLETION, Kind.UNKNOWN, Arrival.CUT),
        ({"status": 200, "headers": OF_EVENTS, "body": SSE}, STREAM, Kind.OK, Arrival.WHOLE),
        ({"status": 200, "headers": OF_EVENTS, "body": SSE[:-14]}, STREAM, Kind.UNKNOWN, Arrival.WHOLE),
        ({"status": 200, "body": SSE}, STREAM, Kind.UNKNOWN, Arrival.WHOLE),
        ({"returned": RETURNED}, COMPLETION, Kind.OK, Arrival.RETURNED),
        ({"returned": None}, COMPLETION, Kind.OK, Arrival.RETURNED),
        ({"events": EVENTS}, STREAM, Kind.OK, Arrival.RETURNED),
        ({"events": EVENTS[:1], "error": "Cut"}, STREAM, Kind.UNKNOWN, Arrival.RETURNED),
        ({"error": "Refused"}, COMPLETION, Kind.UNKNOWN, Arrival.RETURNED),
    ],
)
def test_what_a_client_has_handed_its_caller_is_the_outcome(
    said: dict[str, object], form: Form, kind: Kind, arrival: Arrival
) -> None:
    """A response is read as any is; an object is what was returned; a raised error claims nothing."""
    outcome = _outcome(said, form)
    assert (outcome.operation, outcome.kind, outcome.arrival, outcome.invoked_at_ns) == (7, kind, arrival, 5)


def test_an_object_and_the_events_of_a_stream_are_read_as_tokens_and_text() -> None:
    """Of a stream that was lost, those that came; of what is no completion, none, and what it is."""
    assert (_outcome({"returned": RETURNED}).tokens, _outcome({"returned": RETURNED}).text) == ((1, 2), "ab")
    assert (_outcome({"events": EVENTS}, STREAM).tokens, _outcome({"events": EVENTS}, STREAM).text) == ((1, 2), "ab")
    lost = _outcome({"events": EVENTS[:1], "error": "Cut", "message": "reset"}, STREAM)
    assert (lost.tokens, lost.text, lost.says) == ((1,), "a", "Cut: reset")
    assert _outcome({"events": []}, STREAM).says == "its stream ended without an error after 0 events"
    page = _outcome({"returned": "<html>"})
    assert (page.tokens, page.says) == (None, 'it returned "<html>"')


def test_a_body_is_a_text_or_base64() -> None:
    """Whichever an adapter has at hand."""
    assert _outcome({"status": 200, "body": "\u00e9"}).body == "\u00e9".encode()
    assert _outcome({"status": 200, "body_base64": "AP8="}).body == b"\x00\xff"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello\n", "malformed"),
        (b'{"status": 200}\n', "id"),
        (b'{"id": 1}\n', "no one thing"),
        (b'{"id": 1, "status": 200, "returned": 1}\n', "no one thing"),
        (b'{"id": 1, "error": "E", "body": "x"}\n', "without a status"),
        (b'{"id": 1, "status": 200, "body": "x", "body_base64": "AA=="}\n', "two bodies"),
        (b'{"id": 1, "status": 200, "body_base64": "a"}\n', "base64-encoded"),
        (b'{"id": 1, "error": "E", "returned": {}}\n', "raised"),
        (b'{"id": 1, "status": 200, "stauts": 1}\n', "stauts"),
        (b'{"id": 1, "status": "200"}\n', "int"),
    ],
)
def test_a_line_that_is_no_outcome_is_refused(line: bytes, why: str) -> None:
    """It is quoted, beside what was expected."""
    with pytest.raises(LineError, match=why) as refused:
        said_in(line)
    assert repr(line.decode().rstrip("\n"))[1:20] in str(refused.value)
    assert "expected" in str(refused.value)


def test_an_operation_is_one_line() -> None:
    """Whatever its body holds."""
    line = line_of(Asked(id=3, path="/v1/completions", headers={"A": "b"}, body='{"a": "\n"}', stream=True))
    assert line.count(b"\n") == 1
    assert json.loads(line)["body"] == '{"a": "\n"}'
