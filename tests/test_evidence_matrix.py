"""The parts of the evidence matrix, on literal facts: words, order, merging, and what is no matrix."""

import ssl

import pytest

from fake_router.forms import DONE, ERROR, in_form, stream_of
from fake_router.replies import body_of
from faults.form import Form
from faults.vocabulary import Content
from suites.evidence.cases import How
from suites.evidence.got import Got, Holds, errno_in, error_chain, events_in, holds_of, holds_of_stream
from suites.evidence.matrix import Matrix, MatrixError, Row, dump_matrix, load_matrix, merged
from suites.evidence.scene import Seen

RESET = Seen(got=Got(error=("OSError",), reason="ECONNRESET"))
CLOSED = Seen(got=Got(error=("http.client.RemoteDisconnected",)))
WELL = Seen(got=Got(status=200, holds=Holds.RESULT), ran=1)
RESULT = body_of(Content.RESULT, 7, 3, 1)[1]
ASKED = Form(stream=True)
STREAM, ANOTHERS = in_form(ASKED, 7, 3, 1), in_form(ASKED, 8, 3, 1)
EVENT = stream_of(Content.RESULT, ASKED.api, 7, 3, 1)[0]


def matrix(*rows: Row, version: str = "1.0") -> Matrix:
    """A literal one of the client `c`."""
    return Matrix(python="3.11.7", clients={"c": version}, rows=rows)


def row(*seen: Seen, fault: str = "accept-reset", varies: str = "a race") -> Row:
    """A literal one."""
    return Row(fault=fault, client="c", how=How.FIRST, seen=seen, varies=varies)


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        (RESULT, Holds.RESULT),
        (RESULT[:50], Holds.PART),
        (b"sorry", Holds.AS_SENT),
        (b"", Holds.NOTHING),
        (body_of(Content.RESULT, 8, 3, 1)[1], Holds.ANOTHERS),
        (body_of(Content.RESULT, 7, 4, 1)[1], Holds.OTHER),
        (RESULT + b"!", Holds.OTHER),
    ],
)
def test_bytes_are_told_by_what_they_are_to_their_caller(body: bytes, holds: Holds) -> None:
    """Operation 7, executed once, as execution 3."""
    assert holds_of(body, 7, [3], b"sorry") is holds


@pytest.mark.parametrize(
    ("body", "holds", "says"),
    [
        (STREAM, Holds.RESULT, "8 events, [DONE]"),
        (STREAM.removesuffix(DONE), Holds.PART, "8 events"),
        (EVENT, Holds.PART, "1 event"),
        (EVENT + EVENT[:20], Holds.PART, "1 event, bytes that are no event"),
        (EVENT + ERROR, Holds.PART, "2 events, one of them an error"),
        (b"", Holds.NOTHING, "0 events"),
        (RESULT, Holds.OTHER, "0 events, bytes that are no event"),
        (ANOTHERS, Holds.OTHER, "8 events, [DONE]"),
        (EVENT + EVENT, Holds.OTHER, "2 events"),
    ],
)
def test_a_stream_is_told_by_its_events(body: bytes, holds: Holds, says: str) -> None:
    """Operation 7, executed once, as execution 3. What has come is its result only with all of it."""
    assert holds_of_stream(body, ASKED, 7, [3]) is holds
    assert events_in(body, ASKED) == says


def test_a_chain_of_causes_ends_where_its_exception_says_so() -> None:
    """`from None` hides what came before: a caller cannot see it either."""
    try:
        try:
            raise ConnectionResetError(104, "reset")
        except OSError as cause:
            raise KeyError("middle") from cause
    except KeyError as middle:
        shown = ValueError("outer")
        shown.__cause__ = middle
        hidden = ValueError("outer")
        hidden.__context__ = middle
        hidden.__suppress_context__ = True
    assert error_chain(shown) == ("ValueError", "KeyError", "ConnectionResetError")
    assert errno_in(shown) == "ECONNRESET"
    assert errno_in(ssl.SSLEOFError(8, "EOF occurred")) == ""
    assert error_chain(hidden) == ("ValueError",)
    assert errno_in(hidden) == ""


def test_the_same_facts_are_the_same_bytes() -> None:
    """In whatever order they were observed; and they are read back as they were."""
    rows = [row(RESET), row(WELL, fault="healthy", varies="")]
    data = dump_matrix(matrix(*rows))
    assert data == dump_matrix(matrix(*reversed(rows)))
    assert load_matrix(data) == matrix(*rows)
    assert len(data.splitlines()) == len(rows) + 2


def test_what_varies_keeps_what_was_seen_before() -> None:
    """Of the same version; nothing else is kept."""
    old = matrix(row(RESET))
    assert set(merged(matrix(row(CLOSED)), old).rows[0].seen) == {CLOSED, RESET}
    assert merged(matrix(row(CLOSED), version="1.1"), old).rows[0].seen == (CLOSED,)
    assert merged(matrix(row(CLOSED, varies="")), old).rows[0].seen == (CLOSED,)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no evidence matrix"),
        (b"[]", "no evidence matrix"),
        (b'{"schema":2,"python":"3","clients":{},"rows":[]}', "schema is 2; this version reads 1"),
        (b'{"schema":1,"python":"3","clients":{},"rows":[],"more":1}', "more"),
    ],
)
def test_what_is_no_matrix_is_refused(data: bytes, says: str) -> None:
    """With what was wrong."""
    with pytest.raises(MatrixError, match=says):
        load_matrix(data)
