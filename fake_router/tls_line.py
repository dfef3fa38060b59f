"""An accepted socket that speaks TLS. The socket stays a plain non-blocking one, so that a reset, a FIN with or without
a close_notify, what `send` returns and what lies unread are still ours; TLS runs beside it, in memory.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import assert_never

from fake_router.client_hello import HelloReader
from fake_router.line import READ_BYTES, READS_AT_ONCE, Line
from fake_router.switchboard import Switchboard
from fake_router.tls_session import TlsSession
from faults.vocabulary import Ending

_PIECE_BYTES = 16_384  # what one record holds at most (RFC 8446 s5.1)
_HEAD_BYTES = 5  # of a record: its type, a version, its length
_LOOK_BYTES = 65_536
RECORDS_AT_ONCE = 64  # of a handshake, each with a look at what lies there; a well-behaved one has fewer


class TlsLine(Line):
    """As Line, but what is read, looked at, sent and counted is plaintext.

    `send` counts a piece of plaintext when the kernel has taken the whole of its record: until then the peer cannot
    read a byte of it. `peek` reads the handshake in earnest, since the peer waits for its end, and decrypts a copy of
    what lies behind it.
    """

    __slots__ = ("_awaiting_room", "_copied", "_hello", "_plain", "_reset", "_sealed", "_seen", "_tls", "_unsent")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        board: Switchboard,
        sock: socket.socket,
        *,
        number: int,
        upstream: int,
        peer_port: int,
        released: Callable[[Line], None],
        context: ssl.SSLContext,
    ) -> None:
        super().__init__(loop, board, sock, number=number, upstream=upstream, peer_port=peer_port, released=released)
        self._tls = TlsSession(context)
        self._hello = HelloReader()
        self._plain = b""  # decrypted, and not handed on
        self._copied = 0  # bytes of ciphertext that are decrypted already, and still lie in the socket
        self._seen = 0  # bytes of an unfinished record of the handshake that lay there
        self._unsent = b""  # ciphertext that the kernel has not taken
        self._sealed = 0  # bytes of plaintext in it that are not counted yet
        self._awaiting_room = False
        self._reset = False

    @property
    def refused(self) -> bool:
        """The handshake failed by what the peer sent, or did not send."""
        return self._tls.refused

    # Reading.

    def read(self, limit: int = READ_BYTES) -> bytes | None:
        """As Line, of plaintext; also empty when the TLS session is over: by a close_notify or a fatal alert of the
        peer, or by what is no TLS.
        """
        self._discard_copied()
        if self._plain:
            data, self._plain = self._plain[:limit], self._plain[limit:]
            return data
        for _ in range(READS_AT_ONCE):
            if self._tls.ended and not self.over:  # once we have ended it, the peer's FIN is waited for
                return b""
            ciphertext = super().read(limit)
            if not ciphertext:
                return ciphertext
            data = self._decrypted(ciphertext)
            if data:
                if self._tls.ended and not self.over:
                    self.read_on()  # the socket may stay quiet, and this is an end all the same
                return data
        self.read_on()  # nothing to be handed on was in all this
        return None

    def _decrypted(self, ciphertext: bytes) -> bytes:
        """The plaintext that this completes; what the session itself has to say to it is said."""
        if (hello := self._hello.feed(ciphertext)) is not None:
            self.record_greeted(hello)
        plaintext = self._tls.feed(ciphertext)
        self._reply()
        return plaintext

    def _discard_copied(self) -> None:
        """Take out of the socket what was decrypted while it lay there."""
        if self._copied:
            super().wake_at(1)
        while self._copied:
            self._copied -= len(super().read(self._copied) or bytes(self._copied))  # the peer may have reset it

    def peek(self, limit: int) -> bytes | None:
        """As Line, of plaintext; the handshake is completed first."""
        if not self._tls.shaken and not self._shaken_unread():
            return b"" if self._tls.ended else None
        ciphertext = super().peek(_LOOK_BYTES)
        if ciphertext is None:
            return None
        fresh = ciphertext[self._copied :]
        plaintext = self._decrypted(fresh)
        self._plain += plaintext
        self._copied = len(ciphertext)
        if fresh and not plaintext and not self._tls.ended and not self.is_reset():
            super().wake_at(self._copied + 1)  # a record is not whole
            return None
        return self._plain[:limit]

    def is_reset(self) -> bool:
        """As Line, but true for good."""
        self._reset = self._reset or super().is_reset()
        return self._reset

    def _shaken_unread(self) -> bool:
        """Whether the handshake is complete. Only its own records are read, and none behind them."""
        for _ in range(0 if self.reading_on else RECORDS_AT_ONCE):
            if self._tls.ended or self._tls.shaken:
                return self._tls.shaken
            ciphertext = super().peek(_LOOK_BYTES)
            if ciphertext is None:
                return False
            record_bytes = _HEAD_BYTES + int.from_bytes(ciphertext[3:_HEAD_BYTES], "big")
            if len(ciphertext) < record_bytes:
                # Woken without more: the peer has ended. Bytes that are no TLS may look like the head of a long record.
                self._tls.ended = len(ciphertext) in (self._seen, _LOOK_BYTES) or self.is_reset()
                self._seen = len(ciphertext)
                super().wake_at(self._seen + 1)
                return False
            self._seen = 0
            super().wake_at(1)
            self._decrypted(super().read(record_bytes) or b"")
        self.read_on()
        return False

    def wake_at(self, unread_bytes: int) -> None:
        """As Line: more plaintext than has been decrypted needs more ciphertext than lies there."""
        super().wake_at(1 if unread_bytes <= len(self._plain) else self._copied + 1)

    # Sending.

    def on_writable(self, writable: Callable[[], None] | None) -> None:
        """As Line."""
        self._awaiting_room = writable is not None
        super().on_writable(writable)

    def send(self, data: bytes | memoryview) -> int:
        """As Line. What was not counted must be given again as it was: it may be encrypted already."""
        if not self._flush():
            return 0
        taken, self._sealed = self._sealed, 0
        while taken < len(data):
            piece = memoryview(data)[taken : taken + _PIECE_BYTES]
            self._tls.seal(piece)
            if not self._flush():
                self._sealed = len(piece)
                return taken
            taken += len(piece)
        return taken

    def fin(self) -> None:
        """A close_notify, then FIN, then as Line."""
        self._close_notify()
        super().fin()

    def gone(self) -> None:
        """As Line; a peer that has only ended its own side may wait for our close_notify."""
        self._close_notify()
        super().gone()

    def end(self, ending: Ending) -> None:
        """As Line; TLS knows all of them."""
        match ending:
            case Ending.FIN | Ending.RESET:
                super().end(ending)
            case Ending.TRUNCATION:
                super().fin()
            case Ending.ALERT:
                self._tls.alert()
                self._reply()
                super().fin()
            case _:
                assert_never(ending)

    def _close_notify(self) -> None:
        self._tls.close_notify()
        self._reply()

    def _reply(self) -> None:
        """Hand over what the session itself has to say. A peer that is gone is seen at the next read."""
        with contextlib.suppress(OSError):
            if not self._flush() and not self._awaiting_room:
                super().on_writable(self._flush_rest)

    def _flush_rest(self) -> None:
        try:
            done = self._flush()
        except OSError:
            done = True
        if done:
            super().on_writable(None)

    def _flush(self) -> bool:
        """Whether the kernel has taken all the ciphertext that there is. Raises OSError when the peer is gone."""
        self._unsent += self._tls.leaving()
        while self._unsent:
            taken = super().send(self._unsent)
            if not taken:
                return False
            self._unsent = self._unsent[taken:]
        return True
