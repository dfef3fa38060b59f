"""Requests of which a part is read: how much, what follows, and what becomes of large ones."""

from collections.abc import Iterator

import pytest

from fake_router.entries import Executed, Received, Replied, Replying, Striking, Struck, Unserved
from fake_router.partial import bytes_of
from faults.vocabulary import Extent, Sight
from tests.router_client import GIVES_UP_MS, Client, Stage, dial, faulty, request, staged, work

OPERATION = 7
LARGE = work(OPERATION, padding="x" * 8_000_000)  # more than the kernel takes of a peer whose bytes nobody reads
NO_WORKERS = b"No available workers"
HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


@pytest.mark.parametrize(
    ("head", "half"),
    [
        (HEAD + b"Content-Length: 9\r\n\r\n", 4),
        (HEAD + b"content-length:\t9\r\nX: y\r\n\r\n", 4),
        (HEAD + b"X-Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 2),  # of the five bytes that have come
    ],
)
def test_a_part_has_so_many_bytes(head: bytes, half: int) -> None:
    """Of a length that is told, half of it; of any other, half of what has come."""
    found = {part: bytes_of(part, head + b"12345") for part in Extent}
    assert found == {
        Extent.FIRST_BYTE: 1,
        Extent.REQUEST_LINE: len(b"POST / HTTP/1.1\r\n"),
        Extent.HEAD: len(head),
        Extent.EXPECTATION: len(head),
        Extent.HALF_BODY: len(head) + half,
    }


def test_of_what_has_no_such_part_all_is_read() -> None:
    """Bytes that are no request have no head."""
    countless = b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n"
    assert bytes_of(Extent.HALF_BODY, countless) > len(countless)
    assert bytes_of(Extent.HEAD, b"nonsense") == bytes_of(Extent.REQUEST_LINE, b"nonsense") == 8


def _expecting(operation: int, part: slice) -> bytes:
    whole = work(operation)
    body = whole[whole.index(b"\r\n\r\n") + 4 :]
    head = request(body, head=("Expect: 100-continue",))
    return head[: len(head) - len(body)] if part == slice(0) else head


@pytest.mark.parametrize(("fault", "sight"), [("expect-fin", Sight.FIN), ("expect-503-no-workers", Sight.STATUS)])
@pytest.mark.parametrize("with_body", [False, True])
def test_what_waits_for_100_continue_never_gets_it(stage: Stage, fault: str, sight: Sight, with_body: bool) -> None:
    """Whether or not the body has come all the same."""
    stage.arm(faulty(fault, expect=True), first=OPERATION)
    with Client(stage.port) as client:
        seen = client.ask(_expecting(OPERATION, slice(None) if with_body else slice(0)))
    assert seen.sight is sight
    assert seen.status in (None, 503)
    (striking,), (struck,) = stage.of(Striking), stage.of(Struck)
    assert (striking.operation, struck.striking) == (OPERATION, striking.seq)
    assert stage.of(Executed) == []


def test_who_expects_nothing_is_served(stage: Stage) -> None:
    """There is nothing that could be withheld."""
    stage.arm(faulty("expect-fin", expect=True), first=OPERATION)
    assert dial(stage.port, work(OPERATION)).sight is Sight.WHOLE
    assert stage.of(Striking) == []


def test_a_large_request_gets_an_early_answer_when_the_router_reads_on(stage: Stage) -> None:
    """A peer that writes all of it before it reads can do so (RFC 9112 s9.6)."""
    stage.arm(faulty("early-503-no-workers"), first=OPERATION)
    seen = dial(stage.port, LARGE)
    assert (seen.sight, seen.status, NO_WORKERS in seen.body) == (Sight.STATUS, 503, True)
    assert (b"connection", b"close") in seen.headers
    (lost,) = stage.of(Unserved)
    assert stage.of(Received) == []
    (striking,), (replying,), (replied,) = stage.of(Striking), stage.of(Replying), stage.of(Replied)
    assert (striking.operation, lost.operation) == (OPERATION, None)  # it is not read so far that its content told
    assert {striking.exchange, replying.exchange, replied.exchange} == {1}
    assert replied.whole


def test_a_connection_that_is_kept_after_an_early_answer_carries_the_next_request(stage: Stage) -> None:
    """The rest of the first one is thrown away, and is no request."""
    stage.arm(faulty("early-503-no-workers-kept"), first=OPERATION)
    with Client(stage.port) as client:
        seen = client.ask(LARGE)
        assert (seen.status, (b"connection", b"close") in seen.headers) == (503, False)
        assert client.ask(work(OPERATION)).sight is Sight.WHOLE
    (received,) = stage.of(Received)
    assert (received.connection, received.nth, received.exchange, received.operation) == (1, 1, 2, OPERATION)


def test_a_connection_that_is_kept_survives_the_settling_of_its_run(stage: Stage) -> None:
    """What is thrown away needs no draining, however much of it is still to come."""
    stage.arm(faulty("early-503-no-workers-kept"), first=OPERATION)
    with Client(stage.port) as client:
        client.send(LARGE[:1_000_000])
        assert client.see().status == 503
        stage.heal()
        stage.drain()
        client.send(LARGE[1_000_000:])
        assert client.ask(work(OPERATION)).sight is Sight.WHOLE


def test_an_early_answer_before_a_close_at_once_may_be_lost(stage: Stage) -> None:
    """A peer that still writes meets the reset first."""
    stage.arm(faulty("early-503-no-workers-abrupt"), first=OPERATION)
    assert dial(stage.port, LARGE).sight is Sight.RESET
    assert dial(stage.port, work(OPERATION)).sight is Sight.STATUS
    assert [entry.whole for entry in stage.of(Replied)] == [True, True]


def test_what_is_left_in_part_is_read_after_settling_and_recorded_once(stage: Stage) -> None:
    """Its connection is ended then."""
    stage.arm(faulty("part-body-silence"), first=OPERATION)
    with Client(stage.port) as client:
        assert client.ask(work(OPERATION), within_ms=GIVES_UP_MS).sight is Sight.SILENCE
        stage.heal()
        stage.drain()
        assert client.ends_by() is Sight.FIN
        client.send(work(OPERATION))  # it crosses the FIN, and is another sending
        stage.until(Unserved, 2)
    assert [entry.operation for entry in stage.of(Unserved)] == [OPERATION, OPERATION]


def test_the_writing_of_a_large_request_stalls(stage: Stage) -> None:
    """The kernel takes less of it than it takes of one that is merely not read; afterwards it takes all again."""
    stage.arm(faulty("write-stall"), first=OPERATION)
    with Client(stage.port) as client:
        client.socket.settimeout(GIVES_UP_MS / 1000)
        with pytest.raises(TimeoutError):
            client.send(LARGE)
        stage.until(Struck, 1)
    stage.heal()
    assert dial(stage.port, LARGE).sight is Sight.WHOLE


def test_a_fin_that_a_request_crosses_is_followed_by_a_reset(stage: Stage) -> None:
    """What the peer sends after it meets a closed socket."""
    stage.arm(faulty("unread-fin-abandoned"), first=OPERATION)
    with Client(stage.port) as client:
        assert client.ask(work(OPERATION)).sight is Sight.FIN
        assert stage.thread.run(stage.router.connections) == 0  # the socket is closed, not only shut down
        with pytest.raises(ConnectionError):
            client.send(work(OPERATION))
