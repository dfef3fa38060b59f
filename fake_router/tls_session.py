"""One server's side of TLS, between ciphertext and plaintext; no socket is known here.

Any split of the same ciphertext gives the same plaintext. What is no TLS, a fatal alert of the peer and its
close_notify all end the session; none raises.
"""

import contextlib
import ssl

_READ_BYTES = 65_536
# Records that nobody could have encrypted: taking one in makes OpenSSL send the fatal alert bad_record_mac. So many
# that they also fill up any record of which only the beginning has come (RFC 8446 s5.2: 16,640 bytes at most).
_FORGED = (b"\x17\x03\x03\x00\x20" + bytes(32)) * 500


class TlsSession:
    """From the ClientHello to the end. `shaken`: the handshake is complete. `refused`: it failed, by what
    the peer sent or did not send. `ended`: nothing more will be read."""

    __slots__ = ("_arriving", "_leaving", "_tls", "ended", "refused", "shaken")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._arriving, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arriving, self._leaving, server_side=True)
        self.shaken = False
        self.refused = False
        self.ended = False

    def feed(self, ciphertext: bytes) -> bytes:
        """The plaintext that these further bytes complete; empty: none, or the session is over."""
        if self.ended:
            return b""
        self._arriving.write(ciphertext)
        plaintext = []
        try:
            if not self.shaken:
                self._tls.do_handshake()
                self.shaken = True
            while data := self._tls.read(_READ_BYTES):
                plaintext.append(data)
            self.ended = True  # a close_notify
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            self.refused = not self.shaken
            self.ended = True
        return b"".join(plaintext)

    def seal(self, plaintext: bytes | memoryview) -> None:
        """Encrypt it. Raises ssl.SSLError, an OSError, on a session that a fatal alert has ended."""
        self._tls.write(plaintext)

    def leaving(self) -> bytes:
        """Take the ciphertext that is to be sent."""
        return self._leaving.read()

    def close_notify(self) -> None:
        """Say that no more is sent (RFC 8446 s6.1); reading may go on. Before the handshake is complete: nothing."""
        if self.shaken:
            # It has been said, and the peer has not answered yet; or the session has ended.
            with contextlib.suppress(ssl.SSLError):
                self._tls.unwrap()

    def alert(self) -> None:
        """End the session with a fatal alert (RFC 8446 s6.2): bad_record_mac, where no record has begun to arrive."""
        self.feed(_FORGED)
        self.ended = True
