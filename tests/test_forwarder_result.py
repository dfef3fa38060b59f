"""What is sent, and what is taken for a success: whole, JSON, of the right shape, and exactly what was asked for."""

from typing import Any

import orjson
import pytest

from forwarder.errors import RequestError
from forwarder.evidence import Kind
from forwarder.policy import NO_WORKERS
from forwarder.reply import Reply, evidence_of_reply
from forwarder.request import Asked, request_of
from forwarder.validate import Choice, InvalidResultError, completion_of
from tests.raw_router import result

EVERYTHING = Asked(choices=1, token_ids=True, logprobs=True)
LOGPROBS = {"token_logprobs": [-0.5, 0], "tokens": ["fo", "ur"], "top_logprobs": None}


def _reply(body: bytes, *, status: int = 200, type_: str = "application/json", encoding: str = "") -> Reply:
    return Reply(url="http://r", status=status, body=body, content_type=type_, content_encoding=encoding)


def test_a_whole_result_is_a_completion_with_the_bytes_of_the_router() -> None:
    """Every choice with its text, its tokens, their logprobs and its reason to finish; `raw` is untouched."""
    body = b" " + result(logprobs=LOGPROBS)
    completion = completion_of(_reply(body, type_="Application/JSON; charset=utf-8"), EVERYTHING)
    assert completion.raw == body
    assert completion.choices == (
        Choice(text="four", finish_reason="stop", token_ids=(1, 2), token_logprobs=(-0.5, 0.0)),
    )


def test_what_was_not_asked_for_may_be_absent() -> None:
    """A bare text is a whole answer to a request for a text; no tokens are one to max_tokens 0."""
    choice = completion_of(_reply(b'{"choices":[{"text":"","finish_reason":"length"}]}'), Asked()).choices[0]
    assert choice == Choice(text="", finish_reason="length")
    nothing = Asked(token_ids=True, some_tokens=False)
    assert completion_of(_reply(result(token_ids=[])), nothing).choices[0].token_ids == ()


WRONG_CHOICES: list[tuple[dict[str, Any], str]] = [
    ({"text": None}, "wrong shape: Expected `str`"),
    ({"finish_reason": None}, "choice 0: finish_reason is None"),
    ({"finish_reason": "abort"}, "choice 0: finish_reason is 'abort'; expected one of length, stop"),
    ({"index": 1}, "indices [1]"),
    ({"token_ids": None}, "no token_ids"),
    ({"token_ids": []}, "0 token_ids and 2 token_logprobs"),
    ({"token_ids": [], "logprobs": {"token_logprobs": []}}, "token_ids is empty"),
    ({"token_ids": [1]}, "1 token_ids and 2 token_logprobs"),
    ({"token_ids": [1, 2.5]}, "wrong shape: Expected `int`"),
    ({"token_ids": [1, True]}, "wrong shape: Expected `int`"),
    ({"token_ids": [1, -1]}, "wrong shape"),
    ({"token_ids": [1, 2**31]}, "wrong shape"),
    ({"token_ids": "12"}, "wrong shape"),
    ({"logprobs": None}, "no logprobs of its tokens"),
    ({"logprobs": {}}, "no logprobs of its tokens"),
    ({"logprobs": {"token_logprobs": [-0.5, None]}}, "wrong shape"),
    ({"logprobs": {"token_logprobs": [-0.5, "0"]}}, "wrong shape"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG_CHOICES)
def test_a_choice_that_is_not_what_was_asked_for_is_named(changes: dict[str, Any], says: str) -> None:
    """The message says what is wrong, and quotes the body."""
    body = result(**({"logprobs": LOGPROBS} | changes))
    with pytest.raises(InvalidResultError) as caught:
        completion_of(_reply(body), EVERYTHING)
    assert says in str(caught.value)
    assert 'the body begins \'{"id":"cmpl-1"' in str(caught.value)


_ONE = '{"index":0,"text":"","finish_reason":"stop","token_ids":[1],"logprobs":{"token_logprobs":[%s]}}'

WRONG_BODIES = [
    (_reply(b""), "no JSON"),
    (_reply(result()[:-2]), "no JSON"),
    (_reply(result() + b"}"), "no JSON"),
    (_reply(result().replace(b"four", b"\xff")), "no JSON"),
    (_reply(('{"choices":[' + _ONE % "NaN" + "]}").encode()), "no JSON"),
    (_reply(('{"choices":[' + _ONE % "-1e999" + "]}").encode()), "no JSON"),
    (_reply(b"[]"), "wrong shape"),
    (_reply(b'{"status":"ok","data":[]}'), "wrong shape: Object missing required field `choices`"),
    (_reply(b'{"choices":{}}'), "wrong shape"),
    (_reply(b'{"error":{"message":"dead"}}'), "an error in place of a result"),
    (_reply(b'{"choices":[]}'), "0 choices; expected 1"),
    (_reply(b"<html>", type_="text/html"), "content-type is 'text/html'"),
    (_reply(result(), type_=""), "content-type is ''"),
    (_reply(result(), type_="text/json"), "content-type is 'text/json'"),
    (_reply(result(), encoding="gzip"), "content-encoding is 'gzip'"),
    (_reply(result(), status=204), "status is 204"),
]


@pytest.mark.parametrize(("reply", "says"), WRONG_BODIES)
def test_what_is_no_whole_json_result_is_named(reply: Reply, says: str) -> None:
    """HTML, half a JSON, NaN, another shape, an encoding that was not asked for, a 2xx that is no 200."""
    with pytest.raises(InvalidResultError) as caught:
        completion_of(reply, Asked(logprobs=True))
    assert says in str(caught.value)


def test_as_many_choices_as_asked_for_each_index_once() -> None:
    """One more, one fewer, or the same one twice is no answer."""

    def choices(*indices: int | None) -> bytes:
        return orjson.dumps({"choices": [{"text": "", "finish_reason": "stop", "index": i} for i in indices]})

    asked = Asked(choices=2)
    for right in ((0, 1), (1, 0), (None, None)):
        assert len(completion_of(_reply(choices(*right)), asked).choices) == 2
    for wrong in ((0,), (0, 1, 2), (0, 0), (1, 2), (None, 1)):
        with pytest.raises(InvalidResultError, match="choices"):
            completion_of(_reply(choices(*wrong)), asked)


def test_a_mapping_is_encoded_once_and_bytes_stay_as_they_are() -> None:
    """Whitespace and the order of keys included."""
    given = b' {"n": 3, "prompt": [1],\n"logprobs": 0, "return_token_ids": true, "max_tokens": 0}'
    request = request_of(given)
    assert request.body is given
    assert request.asked == Asked(choices=3, token_ids=True, logprobs=True, some_tokens=False)
    assert request_of({"prompt": [1], "n": None, "logprobs": None}).asked == Asked()
    assert request_of({"prompt": [1], "logprobs": False}).body == b'{"prompt":[1],"logprobs":false}'


@pytest.mark.parametrize(
    "wrong", [b"", b"[1]", b"{", {"stream": 1}, {"n": 0}, {"n": True}, {"n": "2"}, {"n": 1025}, {"x": {1, 2}}]
)
def test_what_cannot_be_forwarded_is_refused_before_anything_is_sent(wrong: Any) -> None:
    """No JSON object, a stream that is neither true nor false, a number of choices that cannot be."""
    with pytest.raises(RequestError, match=r"expected|cannot be written|no JSON"):
        request_of(wrong)


def test_an_answer_that_is_cut_is_not_the_one_that_the_contract_names() -> None:
    """Half of a 503 could be half of anything; half of a 2xx still says that the work ran."""
    text = b"No available workers"
    whole = Reply(url="u", status=503, body=text)
    cut = Reply(url="u", status=503, body=text, cut="reset")
    kinds = [evidence_of_reply(reply, (NO_WORKERS,)) for reply in (whole, cut, Reply(url="u", status=200, body=b""))]
    assert [kind and kind.kind for kind in kinds] == [Kind.NOT_ACCEPTED, Kind.SERVER_ERROR, None]
    lost = evidence_of_reply(Reply(url="u", status=200, body=b"{", cut="reset"), ())
    assert lost is not None
    assert lost.kind is Kind.RESULT_CUT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("2", 2.0), (" 3 ", 3.0), ("", None), ("soon", None), ("-1", None), ("Fri, 31 Dec 1999 23:59:59 GMT", 0.0)],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """RFC 9110 s10.2.3; what is neither is ignored."""
    evidence = evidence_of_reply(Reply(url="u", status=503, body=b"", retry_after=value), ())
    assert evidence is not None
    assert evidence.retry_after_s == seconds
