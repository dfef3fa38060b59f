"""Connections that nobody accepts: struck where they lie, in the queue of the kernel."""

from collections.abc import Iterator

import pytest

from fake_router.entries import Closed, EndedBy, Executed, Opened, Striking, Struck, Unserved, Witness
from fake_router.kernel import unaccepted
from faults.vocabulary import Sight
from tests.router_client import GIVES_UP_MS, Client, Stage, dial, faulty, staged, work

OPERATION = 7


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def test_the_kernel_tells_what_lies_unaccepted(stage: Stage) -> None:
    """By the peer's port; what was accepted is not among it."""
    with Client(stage.port) as accepted, Client(stage.port):
        stage.until(Opened, 2)
        accepted.send(b"POST")
        stage.arm(faulty("queue-never"), first=OPERATION)
        with Client(stage.port) as queued, Client(stage.port) as silent:
            queued.send(b"12345")
            assert unaccepted(stage.port) == {queued.port: 5, silent.port: 0}


def test_every_dial_meets_the_listener_that_is_closed_again_and_again(stage: Stage) -> None:
    """It listens at once, so that a second sending is seen too; when healed it accepts."""
    stage.arm(faulty("queue-reset"), first=OPERATION)
    assert [dial(stage.port, work(OPERATION)).sight for _ in range(2)] == [Sight.RESET] * 2
    assert [entry.witness for entry in stage.of(Struck)] == [Witness.QUEUE] * 2
    assert [entry.connection for entry in stage.of(Striking)] == [1, 2]
    assert [entry.by for entry in stage.of(Closed)] == [EndedBy.ROUTER_RESET] * 2
    assert stage.of(Opened) == []
    stage.heal()
    assert dial(stage.port, work(OPERATION)).sight is Sight.WHOLE
    assert [entry.connection for entry in stage.of(Opened)] == [3]


def test_a_listener_is_not_closed_before_every_request_in_its_queue_has_come(stage: Stage) -> None:
    """What it resets is what the ledger names: all of the queue at once."""
    stage.arm(faulty("queue-reset"), first=OPERATION)
    with Client(stage.port) as first, Client(stage.port) as second:
        first.send(work(OPERATION))
        assert first.ends_by(within_ms=GIVES_UP_MS) is Sight.SILENCE
        assert stage.of(Striking) == []
        second.send(work(OPERATION))
        assert [client.ends_by() for client in (first, second)] == [Sight.RESET] * 2
    assert len(stage.of(Struck)) == len(stage.of(Unserved)) == 2


def test_what_nobody_accepts_is_struck_when_it_comes_and_read_when_settled(stage: Stage) -> None:
    """Its number is that of its strike; its content tells its operation, and is never executed."""
    stage.arm(faulty("queue-never"), first=OPERATION)
    with Client(stage.port) as client:
        port = client.port
        client.send(work(OPERATION))
        (struck,) = stage.until(Struck, 1)
        assert not [*stage.of(Opened), *stage.of(Unserved)]
        stage.drain()
        assert client.ends_by() is Sight.FIN
    (striking,), (opened,), (lost,) = stage.of(Striking), stage.of(Opened), stage.of(Unserved)
    assert (struck.striking, struck.witness, striking.operation) == (striking.seq, Witness.QUEUE, OPERATION)
    assert (striking.connection, opened.connection, lost.connection, lost.operation) == (1, 1, 1, OPERATION)
    assert opened.peer_port == port
    assert stage.of(Executed) == []


def test_what_brought_no_request_is_served_when_healed(stage: Stage) -> None:
    """It was not struck."""
    stage.arm(faulty("queue-never"), first=OPERATION)
    with Client(stage.port) as client:
        stage.heal()
        assert client.ask(work(OPERATION)).sight is Sight.WHOLE
    assert stage.of(Striking) == []


def test_a_router_that_is_closed_meanwhile_looks_no_more() -> None:
    """Nothing wakes it, and the port is free."""
    with staged() as stage:
        stage.arm(faulty("queue-never"), first=OPERATION)
        with Client(stage.port) as client:
            client.send(work(OPERATION))
            stage.until(Struck, 1)
            stage.thread.run(stage.thread.close_router, stage.router)
            assert client.ends_by() is Sight.RESET
