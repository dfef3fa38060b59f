"""Whom a ClientHello is meant for: read from any split of its bytes, and of what is none nothing."""

import ssl

import pytest

from fake_router.client_hello import Hello, HelloReader
from fake_router.entries import Closed, Greeted, Opened, Received, Striking
from faults.catalogue import CATALOGUE
from faults.handshake import HandshakeAct
from tests.router_client import Client, dial, faulty, staged, work
from tests.tls_client import TlsSocket, raw, trusting

OPERATION = 7
STRUCK = [fault.id for fault in CATALOGUE.values() if isinstance(fault.act, HandshakeAct)]


def client_hello(name: str | None) -> bytes:
    """The first flight of a client of OpenSSL's."""
    context = ssl.create_default_context()
    context.check_hostname = False
    leaving = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), leaving, server_hostname=name).do_handshake()
    return leaving.read()


def read(data: bytes, size: int) -> list[Hello]:
    """What a reader says of those bytes, cut into pieces."""
    reader = HelloReader()
    said = [reader.feed(data[at : at + size]) for at in range(0, len(data), size)]
    return [hello for hello in said if hello is not None]


def in_records(data: bytes, size: int) -> bytes:
    """The message of one record, spread over records of so many bytes."""
    message = data[5:]
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(data[:3] + len(part).to_bytes(2, "big") + part for part in parts)


@pytest.mark.parametrize("name", ["router.test", "localhost", "xn--bcher-kva.example", None])
@pytest.mark.parametrize("size", [1, 2, 5, 6, 100, 10_000])
def test_the_name_is_the_same_however_the_bytes_are_cut(name: str | None, size: int) -> None:
    """In segments, in records, and with more behind it."""
    hello = client_hello(name)
    assert read(hello, size) == [Hello(name)]
    assert read(in_records(hello, size) + hello, 7) == [Hello(name)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        bytes((22, 3, 1)),
        bytes((22, 3, 1, 0, 0)) * 10,
        bytes((22, 3, 1, 0, 4, 2, 0, 0, 0)),
        bytes((21, 3, 1, 0, 2, 2, 40)),
        (bytes((22, 3, 1, 255, 255, 1, 255, 255, 255)) + bytes(65_531)) * 3,
    ],
)
def test_what_is_no_client_hello_names_nobody(data: bytes) -> None:
    """Plaintext, an alert, another message, one that never ends."""
    assert read(data, 1_000) == []


def test_a_client_hello_whose_lengths_lie_is_one_all_the_same() -> None:
    """Cut anywhere it names nobody; with any byte changed it names somebody or nobody, and nothing raises."""
    hello = client_hello("router.test")
    message = hello[5:]
    for end in range(4, len(message)):
        cut = message[:1] + (end - 4).to_bytes(3, "big") + message[4:end]
        assert read(hello[:3] + len(cut).to_bytes(2, "big") + cut, 10_000) == [Hello(None)]
    for at in range(9, len(hello)):
        assert len(read(hello[:at] + b"\xff" + hello[at + 1 :], 10_000)) == 1


def test_a_name_that_is_no_text_is_written_down_as_it_came() -> None:
    """It is the peer's, and may be anything."""
    hello = client_hello("router.test").replace(b"router.test", b"\xff\x00uter.test")
    assert read(hello, 10_000) == [Hello("\\xff\x00uter.test")]


def test_the_ledger_says_whom_each_connection_asked_for() -> None:
    """By name, or by an address, which is no name (RFC 6066 s3); before anything that comes on it."""
    with staged(tls=True) as stage:
        with raw(stage.port) as sock:
            TlsSocket(sock, trusting(), "localhost").sendall(work(OPERATION))
            stage.until(Received, 1)
        dial(stage.port, work(OPERATION), tls=trusting())
        stage.until_unconnected()
        entries = [entry for entry in stage.entries() if isinstance(entry, Opened | Greeted | Received | Closed)]
        assert [entry.server_name for entry in entries if isinstance(entry, Greeted)] == ["localhost", None]
        assert [type(entry) for entry in entries] == [Opened, Greeted, Received, Closed] * 2


@pytest.mark.parametrize("fault", STRUCK)
def test_a_handshake_that_is_struck_is_written_down_too(fault: str) -> None:
    """Once, whatever the act makes of it."""
    with staged(tls=True) as stage:
        stage.arm(faulty(fault, tls=True), first=OPERATION)
        with raw(stage.port) as sock:
            sock.sendall(client_hello("localhost"))
            (greeted,) = stage.until(Greeted, 1)
        (striking,) = stage.of(Striking)
        assert greeted.server_name == "localhost"
        assert greeted.connection == striking.connection


def test_a_connection_without_tls_asks_for_nobody() -> None:
    """There is no entry of that kind."""
    with staged() as stage, Client(stage.port) as client:
        client.ask(work(OPERATION))
        assert stage.of(Greeted) == []
