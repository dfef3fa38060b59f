"""Sends one reply part by part onto a line: as much at a time as the kernel takes, with gaps between parts."""

import asyncio
from collections.abc import Callable, Iterator

from fake_router.line import Line
from fake_router.parts import Gap, Held, pieces
from fake_router.replies import Reply

_NO_MORE: Iterator[bytes | Gap | Held] = iter(())

HoldAt = Callable[
    [Callable[[], None]], bool
]  # True: what is given will be called when the gate opens; False: it is open


class Sender:
    """One reply at a time. It counts what the kernel has taken; when all has been sent, or the peer is gone, it says
    so by a call, or at once by what `begin` returns.
    """

    __slots__ = (
        "_done",
        "_held",
        "_hold",
        "_left",
        "_line",
        "_loop",
        "_pieces",
        "_read_timeout_s",
        "_reply",
        "_timer",
        "handed",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, line: Line, done: Callable[[bool], None]) -> None:
        self.handed = 0
        self._loop = loop
        self._line = line
        self._done = done
        self._reply: Reply | None = None
        self._pieces: Iterator[bytes | Gap | Held] = iter(())
        self._hold: HoldAt | None = None
        self._held: object | None = None  # what waits for its gate now
        self._left = memoryview(b"")  # of the piece that is being sent
        self._read_timeout_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pausing(self) -> bool:
        """It is in a gap, or held: the kernel has all that there was to send."""
        return self._timer is not None or self._held is not None

    @property
    def whole(self) -> bool:
        """The reply is one that becomes whole, and the kernel has taken all of it."""
        reply = self._reply
        return reply is not None and reply.complete and self.handed >= reply.of_bytes

    def begin(self, reply: Reply, read_timeout_s: float, hold: HoldAt | None = None) -> bool | None:
        """Send it. True: all was sent; False: the peer is gone; None: `done` will be called with one of them. hold:
        where it waits for its gate.
        """
        self.handed = 0
        self._reply = reply
        if len(reply.parts) == 1 and isinstance(data := reply.parts[0], bytes):
            self._pieces = _NO_MORE  # nearly every reply under load
            try:
                self.handed = sent = self._line.send(data)
            except OSError:
                return False
            if sent == len(data):
                return True
            return self._rest(data, sent)
        self._read_timeout_s = read_timeout_s
        self._pieces = pieces(reply.parts)
        self._hold = hold
        return self._go_on()

    def stop(self) -> None:
        """Send nothing more, and call nobody."""
        self._held = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_on(self) -> bool | None:
        for piece in self._pieces:
            if isinstance(piece, Gap):
                self._timer = self._loop.call_later(piece.length * self._read_timeout_s, self._gap_over)
                return None
            if isinstance(piece, Held):
                if self._waits_at_its_gate():
                    return None
                continue
            all_sent = self._send_all(piece)
            if not all_sent:
                return all_sent
        return True

    def _waits_at_its_gate(self) -> bool:
        held = self._held = object()

        def released() -> None:
            if self._held is held:  # it may have been stopped since
                self._held = None
                self._tell(self._go_on())

        assert self._hold is not None, "a reply with a hold is sent with a gate"
        if not self._hold(released):
            self._held = None
        return self._held is held

    def _send_all(self, data: bytes) -> bool | None:
        """True: the kernel took all of it; False: the peer is gone; None: the rest is sent when there is room."""
        try:
            sent = self._line.send(data)
        except OSError:
            return False
        self.handed += sent
        if sent == len(data):
            return True
        return self._rest(data, sent)

    def _rest(self, data: bytes, sent: int) -> bool | None:
        """None: it is sent when there is room."""
        self._left = memoryview(data)[sent:]
        self._line.on_writable(self._writable)
        return None

    def _gap_over(self) -> None:
        self._timer = None
        self._tell(self._go_on())

    def _writable(self) -> None:
        try:
            sent = self._line.send(self._left)
        except OSError:
            self._line.on_writable(None)
            self._tell(False)
            return
        self.handed += sent
        self._left = self._left[sent:]
        if not self._left:
            self._line.on_writable(None)
            self._tell(self._go_on())

    def _tell(self, all_sent: bool | None) -> None:
        if all_sent is not None:
            self._done(all_sent)
