"""TLS in memory: every split of the ciphertext gives the same plaintext; an end is an end, never an exception."""

import contextlib
import ssl
from collections.abc import Iterator

import pytest

from fake_router.identity import IDENTITY, Greeting
from fake_router.tls_session import TlsSession
from faults.handshake import Flaw, TlsVersion
from tests.tls_client import trusting

VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


class Peer:
    """A client's side in memory."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.arriving, self.leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.arriving, self.leaving, server_hostname="127.0.0.1")

    def shake(self) -> bytes:
        """What it has to say next. Raises ssl.SSLError when it refuses."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        return self.leaving.read()

    def sealed(self, data: bytes) -> bytes:
        self.tls.write(data)
        return self.leaving.read()


def _shaken(version: ssl.TLSVersion) -> tuple[TlsSession, Peer]:
    session, peer = TlsSession(IDENTITY.context()), Peer(trusting(version))
    while not session.shaken:
        session.feed(peer.shake())
        peer.arriving.write(session.leaving())
    peer.shake()
    return session, peer


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
def test_every_split_gives_the_same_plaintext(version: ssl.TLSVersion, size: int) -> None:
    """Of the handshake, of records, and of several records at once."""
    session, peer = TlsSession(IDENTITY.context()), Peer(trusting(version))
    while not session.shaken:
        for piece in _pieces(peer.shake(), size):
            assert session.feed(piece) == b""
        peer.arriving.write(session.leaving())
    peer.shake()
    sent = b"x" * 20_000 + b"y" * 300
    ciphertext = peer.sealed(sent) + peer.sealed(b"z")
    assert b"".join(session.feed(piece) for piece in _pieces(ciphertext, size)) == sent + b"z"
    assert not session.ended


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_a_request_right_behind_the_handshake_is_read_with_it(version: ssl.TLSVersion) -> None:
    """The peer's last flight and its first record may come in one segment."""
    session, peer = TlsSession(IDENTITY.context()), Peer(trusting(version))
    session.feed(peer.shake())
    peer.arriving.write(session.leaving())
    flight = peer.shake()
    if version is ssl.TLSVersion.TLSv1_2:  # its peer waits for our Finished
        session.feed(flight)
        peer.arriving.write(session.leaving())
        flight = peer.shake()
    assert session.feed(flight + peer.sealed(b"GET")) == b"GET"


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_a_close_notify_ends_what_is_read_and_nothing_else(version: ssl.TLSVersion) -> None:
    """What came before it is handed on, and the other way stays open (RFC 8446 s6.1)."""
    session, peer = _shaken(version)
    with pytest.raises(ssl.SSLWantReadError):
        peer.tls.unwrap()
    assert session.feed(peer.leaving.read()) == b""
    assert session.ended
    session.seal(b"answer")
    peer.arriving.write(session.leaving())
    assert peer.tls.read(100) == b"answer"


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_ours_leaves_reading_as_it_was(version: ssl.TLSVersion) -> None:
    """A request that crosses our close_notify is still seen."""
    session, peer = _shaken(version)
    late = peer.sealed(b"late")
    session.close_notify()
    peer.arriving.write(session.leaving())
    assert peer.tls.read(100) == b""
    assert session.feed(late) == b"late"
    assert not session.ended


def test_before_the_handshake_nothing_can_be_said() -> None:
    """There is no close_notify that a peer could read."""
    session = TlsSession(IDENTITY.context())
    session.close_notify()
    assert session.leaving() == b""


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("begun", [0, 1, 4, 5, 30], ids=lambda begun: f"{begun} bytes of a record before it")
def test_an_alert_is_fatal_whatever_has_begun_to_arrive(version: ssl.TLSVersion, begun: int) -> None:
    """The peer reads an alert (bad_record_mac where no record had begun), and the session is over on both sides."""
    session, peer = _shaken(version)
    session.feed(peer.sealed(b"x" * 100)[:begun])
    session.alert()
    peer.arriving.write(session.leaving())
    with pytest.raises(ssl.SSLError, match="ALERT_BAD_RECORD_MAC" if begun == 0 else "_ALERT_"):
        peer.tls.read(100)
    assert session.ended
    with pytest.raises(ssl.SSLError):
        session.seal(b"more")


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05hello", bytes(100)])
def test_what_is_no_tls_ends_the_session(garbage: bytes) -> None:
    """Before the handshake it is refused."""
    session = TlsSession(IDENTITY.context())
    assert session.feed(garbage) == b""
    assert session.ended
    assert session.refused
    assert session.feed(garbage) == b""


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_garbage_behind_the_handshake_ends_the_session_after_what_came_before_it(version: ssl.TLSVersion) -> None:
    """It is an end of the connection, and no refused handshake."""
    session, peer = _shaken(version)
    assert session.feed(peer.sealed(b"well") + b"\x17\x03\x03\x00\x20" + bytes(32)) == b"well"
    assert session.ended
    assert not session.refused


def test_no_connection_is_renegotiated() -> None:
    """A ClientHello inside a TLS 1.2 session is turned down, and the session goes on or ends: nothing is raised."""
    session, peer = _shaken(ssl.TLSVersion.TLSv1_2)
    other = Peer(trusting(ssl.TLSVersion.TLSv1_2))
    session.feed(other.shake())
    assert session.ended
    assert peer.tls.version() == "TLSv1.2"


@pytest.mark.parametrize("flaw", Flaw)
def test_a_flawed_certificate_is_refused_by_who_verifies(flaw: Flaw) -> None:
    """By its alert, which ends the handshake on our side too."""
    session, peer = TlsSession(IDENTITY.context(Greeting(flaw=flaw))), Peer(trusting())
    session.feed(peer.shake())
    peer.arriving.write(session.leaving())
    with pytest.raises(ssl.SSLCertVerificationError):
        peer.shake()
    session.feed(peer.leaving.read())
    assert session.refused


@pytest.mark.parametrize("version", TlsVersion)
def test_a_demand_for_a_certificate_fails_for_who_has_none(version: TlsVersion) -> None:
    """Under TLS 1.2 in the peer's handshake; under 1.3 the peer's handshake is complete when it learns of it."""
    session, peer = TlsSession(IDENTITY.context(Greeting(demands=version))), Peer(trusting())
    session.feed(peer.shake())
    peer.arriving.write(session.leaving())
    session.feed(peer.shake())
    assert session.refused
    peer.arriving.write(session.leaving())
    if version is TlsVersion.TLS_1_2:
        with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):
            peer.tls.do_handshake()
    else:
        peer.tls.do_handshake()
        with pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"):
            peer.tls.read(100)


def test_every_connection_makes_a_whole_handshake() -> None:
    """No ticket is given out, so that no connection depends on another one, and no early data can come."""
    session, peer = _shaken(ssl.TLSVersion.TLSv1_3)
    session.seal(b"answer")
    peer.arriving.write(session.leaving())
    assert peer.tls.read(100) == b"answer"
    assert peer.tls.session is None or not peer.tls.session.has_ticket
    assert not peer.tls.session_reused
