"""The control API's live ledger: every entry as it is made, to readers of any speed."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from fake_router.control import FOLLOWED, Control
from fake_router.entries import AnyEntry, Executed, Marked
from fake_router.ledger import Ledger, dump, load
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.vocabulary import Sight
from tests.router_client import HOST, LONG_MS, Client, work

HEADER = dump(())
MANY = 40_000
LONG_MARK = "m" * 400  # so that many of them fit into no socket buffer


class Watched(Ledger):
    """A ledger that counts what was taken from it at once, and in all."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[int] = []

    def since(self, seq: int = 0, at_most: int | None = None) -> tuple[AnyEntry, ...]:
        entries = super().since(seq, at_most)
        self.taken.append(len(entries))
        return entries


@pytest.fixture(scope="module")
def thread() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


@pytest.fixture
def router(thread: RouterThread) -> Iterator[Router]:
    router = thread.run(thread.start_router, ledger=Watched())
    yield router
    thread.run(thread.close_router, router)


@pytest.fixture
def control(thread: RouterThread, router: Router) -> Iterator[Control]:
    control = Control(router)
    thread.run(control.start)
    yield control
    thread.run(control.close)


@contextmanager
def following(control: Control, since: int = 0) -> Iterator[BinaryIO]:
    """The body of a followed ledger, after its header line; chunks are taken apart."""
    with socket.create_connection((HOST, control.port), timeout=LONG_MS / 1000) as sock:
        sock.sendall(f"GET /ledger?since={since}&follow=1 HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        with sock.makefile("rb") as stream:
            head = iter(stream.readline, b"\r\n")
            assert next(head).startswith(b"HTTP/1.1 200")
            assert b"transfer-encoding: chunked\r\n" in [line.lower() for line in head]
            assert chunk(stream) == HEADER
            yield stream


def chunk(stream: BinaryIO) -> bytes:
    """The next chunk; empty for the last one."""
    size = int(stream.readline(), 16)
    data = stream.read(size)
    assert stream.readline() == b"\r\n"
    return data


def marks(thread: RouterThread, router: Router, count: int, mark: str = "here") -> None:
    """So many entries at once."""
    thread.run(lambda: [router.ledger.record(Marked, mark=mark) for _ in range(count)])


def last_and_reset(router: Router) -> None:
    """In one turn of the loop."""
    router.ledger.record(Marked, mark="last")
    router.reset()


def test_entries_come_as_they_are_made(thread: RouterThread, router: Router, control: Control) -> None:
    """Those that there are, from the one asked for on, and then each that follows."""
    marks(thread, router, 3)
    with following(control, since=1) as stream:
        assert [entry.seq for entry in load(HEADER + chunk(stream))] == [2, 3]
        for seq in (4, 5):
            marks(thread, router, 1)
            assert [entry.seq for entry in load(HEADER + chunk(stream))] == [seq]


def test_a_followed_ledger_ends_where_another_begins(thread: RouterThread, router: Router, control: Control) -> None:
    """Whole: what was made before is in it."""
    with following(control) as stream:
        thread.run(last_and_reset, router)
        entries = load(HEADER + chunk(stream))
        assert [entry.mark for entry in entries if isinstance(entry, Marked)] == ["last", "healed"]
        assert chunk(stream) == b""


def test_closing_the_api_ends_what_is_followed(thread: RouterThread, router: Router, control: Control) -> None:
    """In good order."""
    with following(control) as stream:
        thread.run(control.close)
        assert chunk(stream) == b""


def test_a_client_that_goes_is_forgotten(thread: RouterThread, router: Router, control: Control) -> None:
    """Also when nothing is ever recorded again."""
    with following(control):
        assert len(thread.run(lambda: list(router.ledger._followers))) == 1
    deadline = time.monotonic() + LONG_MS / 1000
    while thread.run(lambda: list(router.ledger._followers)):
        assert time.monotonic() < deadline, "it is still followed"


def test_a_reader_that_stands_still_stalls_nobody_and_is_held_little(
    thread: RouterThread, router: Router, control: Control
) -> None:
    """The router serves on; what waits is in the ledger, not in a second copy; in the end every entry has come."""
    ledger = router.ledger
    assert isinstance(ledger, Watched)
    with following(control) as stream:
        marks(thread, router, MANY, LONG_MARK)
        with Client(router.ports[0]) as client:
            for number in range(1, 100):
                assert client.ask(work(number)).sight is Sight.WHOLE
        taken = sum(ledger.taken)
        assert max(ledger.taken) <= FOLLOWED
        assert taken < MANY
        last = len(ledger)
        seqs: list[int] = []
        while len(seqs) < last:
            entries = load(HEADER + chunk(stream))
            seqs += [entry.seq for entry in entries]
    assert seqs == list(range(1, len(seqs) + 1))  # what a connection leaves when it ends may come after the last
    assert sum(isinstance(entry, Executed) for entry in ledger) == 99
