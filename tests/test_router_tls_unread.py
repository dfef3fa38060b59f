"""A TLS connection that is left unread: its handshake is complete, and its request lies in the socket as ciphertext."""

import socket
import ssl
import struct
import threading

import pytest

from fake_router.entries import Closed, Received, Striking, Struck, Unserved
from faults.vocabulary import Sight
from tests.router_client import GIVES_UP_MS, Client, faulty, staged, work
from tests.tls_client import TlsSocket, raw, trusting

OPERATION = 7
TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize("version", [TLS12, TLS13], ids=lambda version: version.name)
def test_an_unread_connection_completes_its_handshake_and_leaves_the_request_in_the_socket(
    version: ssl.TLSVersion,
) -> None:
    """Its operation and its size are known all the same; after draining it is read and never executed."""
    with staged(tls=True) as stage:
        stage.arm(faulty("unread-never", tls=True), first=OPERATION)
        with Client(stage.port, tls=trusting(version)) as client:
            client.send(work(OPERATION))
            stage.until(Struck, 1)
            assert client.see(within_ms=GIVES_UP_MS).sight is Sight.SILENCE
            stage.drain()
            assert client.ends_by() is Sight.FIN
        (unserved,) = stage.of(Unserved)
        assert (unserved.operation, unserved.request_bytes) == (OPERATION, len(work(OPERATION)))


def test_an_unread_request_that_comes_in_pieces_strikes_when_it_is_whole() -> None:
    """Also where a piece ends inside a record, so that there is nothing to decrypt yet."""
    with staged(tls=True) as stage:
        stage.arm(faulty("unread-reset", tls=True), first=OPERATION)
        with raw(stage.port) as sock:
            tls = TlsSocket(sock, trusting())
            first, second = work(OPERATION)[:50], work(OPERATION)[50:]
            ciphertext = tls.sealed(first) + tls.sealed(second)
            for at in range(0, len(ciphertext), 30):
                assert stage.of(Striking) == []
                sock.sendall(ciphertext[at : at + 30])
            stage.until(Struck, 1)
        (unserved,) = stage.of(Unserved)
        assert (unserved.operation, unserved.request_bytes) == (OPERATION, len(work(OPERATION)))


@pytest.mark.parametrize("pieces", [1, 3])
def test_what_is_served_late_is_decrypted_once(pieces: int) -> None:
    """What was looked at while it lay there is the beginning of what is read."""
    with staged(tls=True) as stage:
        stage.arm(faulty("unread-late", tls=True), first=OPERATION)
        with Client(stage.port, tls=trusting()) as client:
            body = work(OPERATION)
            for number in range(pieces):
                client.send(body[number * len(body) // pieces : (number + 1) * len(body) // pieces])
            assert client.see().sight is Sight.WHOLE
            assert client.ask(work(OPERATION + 1)).sight is Sight.WHOLE
        assert [entry.operation for entry in stage.of(Received)] == [OPERATION, OPERATION + 1]


@pytest.mark.parametrize("fault", ["unread-never", "unread-reset", "unread-late"])
def test_a_peer_that_resets_inside_a_record_that_lies_unread_leaves_no_socket(fault: str) -> None:
    """Its bytes can never be decrypted, so nothing was struck."""
    with staged(tls=True) as stage:
        stage.arm(faulty(fault, tls=True), first=OPERATION)
        with raw(stage.port) as sock:
            tls = TlsSocket(sock, trusting())
            left = threading.Event()
            busy = threading.Thread(target=stage.thread.run, args=(left.wait,))
            busy.start()  # so that the router finds both at once: it is woken once alone for a reset
            sock.sendall(tls.sealed(work(OPERATION))[:50])
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left.set()
        busy.join()
        stage.until(Closed, 1)
        stage.until_unconnected()
        assert stage.of(Struck) == []
