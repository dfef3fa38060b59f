"""A blocking TLS socket whose TLS runs in memory: a reset is the kernel's word, an EOF is told from a close_notify."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from fake_router.identity import IDENTITY
from faults.vocabulary import Sight

_READ_BYTES = 65_536
_HOST, _PATIENCE_S = "127.0.0.1", 10.0
CERTIFICATE_REQUIRED = "TLSV13_ALERT_CERTIFICATE_REQUIRED"  # OpenSSL's name of the alert (RFC 8446 s6.2)


class HandshakeError(Exception):
    """The handshake failed; `__cause__` says how, where it was more than an EOF."""

    def __init__(self, sight: Sight = Sight.TLS_FAILED) -> None:
        super().__init__(sight)
        self.sight = sight


class TruncationError(Exception):
    """FIN without a close_notify."""


class AlertError(Exception):
    """A fatal alert, by OpenSSL's name for it."""


@cache
def trusting(version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """A context that trusts the router's CA; version: the only one that it speaks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=IDENTITY.ca_pem.decode())
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


class TlsSocket:
    """Wraps a connected socket, and makes the handshake. Raises HandshakeError."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, name: str = "127.0.0.1") -> None:
        self.raw = sock
        self._arriving, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._arriving, self._leaving, server_hostname=name)
        try:
            self._shake()
        except BaseException as error:
            sock.close()
            if isinstance(error, TimeoutError):
                raise HandshakeError(Sight.TLS_STALLED) from error
            if isinstance(error, ConnectionError):
                raise HandshakeError from error
            raise

    def _shake(self) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.flush()
                if not self._take():
                    raise HandshakeError from None
            except ssl.SSLError as error:
                self.flush()
                raise HandshakeError from error
            else:
                self.flush()
                return

    def flush(self) -> None:
        """Send what TLS has to say."""
        self.raw.sendall(self._leaving.read())

    def _take(self) -> bool:
        data = self.raw.recv(_READ_BYTES)
        self._arriving.write(data)
        return bool(data)

    def sealed(self, data: bytes) -> bytes:
        """The ciphertext of that plaintext, unsent; of none: what else there is to say."""
        if data:
            self.tls.write(data)
        return self._leaving.read()

    def sendall(self, data: bytes) -> None:
        """Send it."""
        self.raw.sendall(self.sealed(data))

    def recv(self, limit: int) -> bytes:
        """Some plaintext; empty after a close_notify. Raises TruncationError, AlertError and ConnectionResetError."""
        while True:
            try:
                return self.tls.read(limit)
            except ssl.SSLWantReadError:
                if not self._take():
                    raise TruncationError from None
            except ssl.SSLZeroReturnError:  # a close_notify, after one of our own
                return b""
            except ssl.SSLError as error:
                raise AlertError(error.reason) from error

    def settimeout(self, seconds: float) -> None:
        """As a socket."""
        self.raw.settimeout(seconds)

    def getsockname(self) -> tuple[str, int]:
        """As a socket."""
        host, port = self.raw.getsockname()
        return host, port

    def close(self) -> None:
        """Close the socket, without a close_notify."""
        self.raw.close()


@contextmanager
def raw(port: int) -> Iterator[socket.socket]:
    """A connected socket that speaks nothing yet."""
    with socket.create_connection((_HOST, port), timeout=_PATIENCE_S) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield sock
