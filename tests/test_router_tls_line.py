"""The router's TLS on real sockets: what it reads, leaves unread, sends and counts, for peers of every kind."""

import contextlib
import socket
import ssl
import struct
from collections.abc import Iterator

import pytest

from fake_router.entries import Closed, EndedBy, Opened, Received, Replied, Striking, Struck
from faults.acts import DialAct, is_listener_act, needs_tcp
from faults.catalogue import CATALOGUE
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Sight
from tests.router_client import HOST, Stage, dial, faulty, staged, work
from tests.tls_client import AlertError, TlsSocket, raw, trusting

OPERATION = 7
TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
ACCEPTING = [
    fault.id
    for fault in CATALOGUE.values()
    if is_listener_act(fault.act) and not isinstance(fault.act, DialAct) and not needs_tcp(fault.act)
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with staged(tls=True) as stage:
        yield stage


def close_notify(tls: TlsSocket) -> None:
    """Say that no more is sent, and leave the socket as it is."""
    with pytest.raises(ssl.SSLWantReadError):
        tls.tls.unwrap()
    tls.flush()


def client_hello() -> bytes:
    """The first flight of a client."""
    leaving = ssl.MemoryBIO()
    tls = trusting().wrap_bio(ssl.MemoryBIO(), leaving, server_hostname=HOST)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return leaving.read()


@pytest.mark.parametrize("version", [TLS12, TLS13], ids=lambda version: version.name)
@pytest.mark.parametrize("size", [1, 7, 400])
def test_a_request_in_pieces_is_read_whole(shared: Stage, version: ssl.TLSVersion, size: int) -> None:
    """However its ciphertext is cut."""
    with raw(shared.port) as sock:
        tls = TlsSocket(sock, trusting(version))
        ciphertext = tls.sealed(work(OPERATION))
        for at in range(0, len(ciphertext), size):
            sock.sendall(ciphertext[at : at + size])
        assert tls.recv(65_536).startswith(b"HTTP/1.1 200 OK")


def bodies(tls: TlsSocket, count: int) -> int:
    """Read so many replies; the bytes of all of them."""
    got, total = bytearray(), 0
    for _ in range(count):
        while b"\r\n\r\n" not in got:
            got += tls.recv(65_536)
        head, _, _ = bytes(got).partition(b"\r\n\r\n")
        size = len(head) + 4 + int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(got) < size:
            got += tls.recv(65_536)
        del got[:size]
        total += size
    return total


def test_a_reader_that_is_slow_gets_every_byte_and_the_ledger_counts_plaintext() -> None:
    """Replies of several records wait for room in the socket; what was counted is the replies, not their ciphertext."""
    count = 300
    with staged(tls=True) as stage, raw(stage.port) as sock:
        tls = TlsSocket(sock, trusting())
        tls.sendall(work(OPERATION, n=128) * count)  # replies of 40 kB each
        assert len(stage.of(Received)) < count, "the router waits for its peer to read"
        total = bodies(tls, count)
        replies = stage.until(Replied, count)
        assert all(reply.whole for reply in replies)
        assert sum(reply.bytes_sent for reply in replies) == total


def test_of_a_reply_that_its_reader_leaves_only_whole_records_are_counted() -> None:
    """The peer cannot read a byte of a record that it has not got whole."""
    count = 300
    with staged(tls=True) as stage:
        with raw(stage.port) as sock:
            tls = TlsSocket(sock, trusting())
            tls.sendall(work(OPERATION, n=128) * count)
            stage.until(Replied, 1)
            stage.entries()
        assert stage.idle()
        *whole, last = stage.of(Replied)
        assert all(reply.whole for reply in whole)
        assert not last.whole
        assert last.bytes_sent % 16_384 == 0
        stage.until_unconnected()


def test_a_peer_that_ends_its_own_side_still_gets_the_reply_that_has_begun() -> None:
    """A close_notify behind the request ends one direction (RFC 8446 s6.1); then the router ends the other."""
    with staged(tls=True) as stage, raw(stage.port) as sock:
        tls = TlsSocket(sock, trusting())
        tls.sendall(work(OPERATION, n=128) * 300)
        assert len(stage.of(Received)) < 300
        close_notify(tls)
        total = 0
        while data := tls.recv(65_536):  # until the router's close_notify
            total += len(data)
        replies = stage.until(Replied, 1)
        assert all(reply.whole for reply in replies)
        assert sum(reply.bytes_sent for reply in replies) == total


def test_an_idle_peer_that_says_close_notify_is_answered_with_one(shared: Stage) -> None:
    """And the connection is over, though the peer has sent no FIN."""
    with raw(shared.port) as sock:
        tls = TlsSocket(sock, trusting())
        close_notify(tls)
        assert tls.recv(100) == b""
        assert sock.recv(100) == b""


def test_a_close_notify_in_the_segment_of_its_request_is_seen_after_the_reply(shared: Stage) -> None:
    """Nothing more comes on that socket, and the connection is over all the same."""
    with raw(shared.port) as sock:
        tls = TlsSocket(sock, trusting())
        request = tls.sealed(work(OPERATION))
        with pytest.raises(ssl.SSLWantReadError):
            tls.tls.unwrap()
        sock.sendall(request + tls.sealed(b""))
        assert tls.recv(65_536).startswith(b"HTTP/1.1 200 OK")
        assert tls.recv(100) == b""


@pytest.mark.parametrize("ending", ["FIN", "RST"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0], ids=["nothing", "a part", "all"])
@pytest.mark.parametrize("fault", [None, *ACCEPTING])
def test_a_peer_that_leaves_in_its_handshake_leaves_no_socket(fault: str | None, share: float, ending: str) -> None:
    """After nothing, a part or all of its ClientHello; whatever waits for the rest of it."""
    with staged(tls=True) as stage:
        plan = Plan(tls=True, operations=(PlannedOperation(),)) if fault is None else faulty(fault, tls=True)
        stage.arm(plan, first=OPERATION)
        hello = client_hello()
        with contextlib.suppress(ConnectionError), raw(stage.port) as sock:  # it may be reset at accept
            sock.sendall(hello[: int(len(hello) * share)])
            if ending == "RST":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stage.until(Opened, 1)
        stage.until(Closed, 1)
        stage.until_unconnected()
        struck = stage.of(Struck)
        assert struck == [] or share == 1.0 or fault == "accept-reset"


@pytest.mark.parametrize("fault", [None, *ACCEPTING])
def test_plain_text_on_a_port_that_speaks_tls_harms_nobody(fault: str | None) -> None:
    """It is no ClientHello: nothing is served, no handshake is struck, and healing ends what stays."""
    with staged(tls=True) as stage:
        plan = Plan(tls=True, operations=(PlannedOperation(),)) if fault is None else faulty(fault, tls=True)
        stage.arm(plan, first=OPERATION)
        with contextlib.suppress(ConnectionError), raw(stage.port) as sock:  # it may be reset at accept
            sock.sendall(work(OPERATION))
            stage.until(Opened, 1)
            stage.drain()
            while sock.recv(65_536):
                pass
        stage.until_unconnected()
        assert stage.of(Received) == []
        assert [entry.fault for entry in stage.of(Striking)] in ([], ["accept-reset"])
        stage.heal()
        assert dial(stage.port, work(OPERATION), tls=trusting()).sight is Sight.WHOLE


def test_garbage_behind_a_request_ends_the_session_before_its_reply(shared: Stage) -> None:
    """What came before it was received; the fatal alert leaves nothing to reply with."""
    since = len(shared.entries())
    with raw(shared.port) as sock:
        tls = TlsSocket(sock, trusting())
        sock.sendall(tls.sealed(work(OPERATION)) + b"\x17\x03\x03\x00\x20" + bytes(32))
        with pytest.raises(AlertError, match="BAD_RECORD_MAC"):
            tls.recv(65_536)
    shared.until_unconnected()
    entries = shared.entries()[since:]
    assert [entry.operation for entry in entries if isinstance(entry, Received)] == [OPERATION]
    assert [entry.bytes_sent for entry in entries if isinstance(entry, Replied)] == [0]
    assert [entry.by for entry in entries if isinstance(entry, Closed)] == [EndedBy.PEER]
