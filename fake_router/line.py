"""An accepted socket, and the ways in which it can end. Each end is one system call and one Closed entry.

The socket is a plain non-blocking one under the loop's reader callbacks, because a transport hides what is needed
here: what `send` returns is what the kernel took, MSG_PEEK looks without reading, a FIN is a shutdown, and a reset
is a close that does not linger.
"""

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, assert_never

from fake_router.client_hello import Hello
from fake_router.entries import NOT_ANSWERED, Closed, EndedBy, Greeted, Opened, Probed, Unserved
from fake_router.routes import Probe, Work, unserved_work
from fake_router.switchboard import Switchboard
from fake_router.wire import MAX_HEAD_BYTES, Event, Request, RequestParser
from faults.plan import MAX_BODY_BYTES
from faults.vocabulary import Ending

READ_BYTES = 65_536
READS_AT_ONCE = 16  # then the others have their turn
EVENTS_AT_ONCE = 256  # and so they have after a read that held so many requests
REST_BYTES = MAX_BODY_BYTES + MAX_HEAD_BYTES  # of what is read in one go: the largest request of a plan, and no more
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: close() sends RST and drops what was not sent


class Rest(NamedTuple):
    """What lay unread: the request in it (a probe rather than another), its bytes, and whether the peer had ended."""

    request: Request | None
    arrived: int
    ended: bool


class Line:
    """One accepted connection: its number, and its socket until that is closed."""

    __slots__ = (
        "_board", "_fd", "_loop", "_peer_port", "_readable", "_released", "_sock",
        "nth", "number", "over", "owed", "parser", "reading_on", "upstream",
    )  # fmt: skip

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        board: Switchboard,
        sock: socket.socket,
        *,
        number: int,
        upstream: int,
        peer_port: int,
        released: Callable[["Line"], None],
    ) -> None:
        self.number = number
        self.upstream = upstream
        self._peer_port = peer_port
        self.nth = 0  # requests received on it
        self.owed = False  # a request whose entry is made is still to be read, or is being read
        self.reading_on = False  # whoever reads from it is called in the loop's next turn
        self.over = False  # its Closed entry is recorded; the socket may wait for the peer's FIN
        self._loop = loop
        self._board = board
        self._sock = sock
        self._fd = sock.fileno()  # as a number: for a socket object the loop would put off its close
        self._released = released
        self._readable: Callable[[], None] | None = None
        self.parser = RequestParser()

    def record_opened(self) -> None:
        """Say in the ledger that it was accepted."""
        self._board.ledger.record(Opened, connection=self.number, upstream=self.upstream, peer_port=self._peer_port)

    def record_greeted(self, hello: Hello) -> None:
        """Say in the ledger whom its ClientHello was meant for."""
        self._board.ledger.record(Greeted, connection=self.number, server_name=hello.server_name)

    def on_readable(self, readable: Callable[[], None]) -> None:
        """Call `readable` as long as bytes, an EOF or an error wait to be read."""
        self._readable = readable
        self._loop.add_reader(self._fd, readable)

    def on_writable(self, writable: Callable[[], None] | None) -> None:
        """Call `writable` as long as the kernel would take bytes; None: no more."""
        if writable is None:
            self._loop.remove_writer(self._fd)
        else:
            self._loop.add_writer(self._fd, writable)

    def leave_unread(self) -> None:
        """Call nobody when bytes arrive."""
        self._readable = None
        self._loop.remove_reader(self._fd)

    def read(self, limit: int = READ_BYTES) -> bytes | None:
        """What has arrived; empty when the peer has ended the connection in any way, None when nothing waits."""
        try:
            return self._sock.recv(limit)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def pieces(self, at_most: int = sys.maxsize) -> Iterator[bytes]:
        """What has arrived, up to so many bytes, as far as one turn of the loop goes; an empty piece is the last, where
        the peer has ended.

        Whoever `on_readable` names is called for the rest in further turns, and not by the loop alone: of a socket that
        its peer has reset, libuv tells once and never again.
        """
        for _ in range(0 if self.reading_on else READS_AT_ONCE):
            if not at_most or (data := self.read(min(at_most, READ_BYTES))) is None:
                return
            yield data
            at_most -= len(data)
            if not data or self.reading_on:
                return
        self.read_on()

    def read_on(self) -> None:
        """Call whoever reads from it once more, in the loop's next turn."""
        if not self.reading_on:
            self.reading_on = True
            self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        self.reading_on = False
        if self._readable is not None:
            self._readable()

    def feed(self, data: bytes) -> list[Event]:
        """The events that these further bytes complete. Where they are many, the turn of the loop ends with them."""
        events = self.parser.feed(data)
        if len(events) > EVENTS_AT_ONCE:
            self.read_on()
        return events

    def read_rest(self) -> Rest:
        """Read what has arrived and is not going to be served; of what a peer goes on sending not all."""
        request: Request | None = None
        arrived = 0
        data: bytes | None = None
        while arrived < REST_BYTES and (data := self.read()):
            arrived += len(data)
            events = self.parser.feed(data)
            for event in events:
                if isinstance(event, Request) and (request is None or self._board.is_probe(request)):
                    request = event
            if len(events) > EVENTS_AT_ONCE:
                break
        return Rest(request, arrived, data == b"")

    def peek(self, limit: int) -> bytes | None:
        """As `read`, but the bytes stay unread."""
        try:
            return self._sock.recv(limit, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def is_reset(self) -> bool:
        """The peer has reset it, though bytes may still lie unread; true once."""
        return self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0

    def wake_at(self, unread_bytes: int) -> None:
        """Readable means from now on that at least so many bytes lie unread, or that the peer has ended."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, unread_bytes)

    def send(self, data: bytes | memoryview) -> int:
        """Hand bytes to the kernel and return how many it took. Raises OSError when the peer is gone."""
        try:
            return self._sock.send(data)
        except BlockingIOError:
            return 0

    def reset(self) -> None:
        """RST, at once; the peer can still read what was sent to it before (measured on loopback)."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._over(EndedBy.ROUTER_RESET)
        self.release()

    def fin(self) -> None:
        """FIN, then read on until the peer's: closing with bytes unread would send RST instead.

        A request that crosses the FIN is recorded as unserved.
        """
        self._over(EndedBy.ROUTER_FIN)
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.release()  # the peer has reset it
            return
        self.on_readable(self._late)

    def abandon(self, *, fin: bool) -> None:
        """Close with what lies unread: the kernel sends RST, behind what was sent; `fin`: and behind a FIN."""
        if fin:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)
        self._over(EndedBy.ROUTER_FIN if fin else EndedBy.ROUTER_RESET)
        self.release()

    def end(self, ending: Ending) -> None:
        """End it in that way. Raises ValueError for one that only TLS knows."""
        match ending:
            case Ending.FIN:
                self.fin()
            case Ending.RESET:
                self.reset()
            case Ending.TRUNCATION | Ending.ALERT:
                raise ValueError(f"{ending!r} of a connection without TLS; expected fin or reset")
            case _:
                assert_never(ending)

    def gone(self) -> None:
        """The peer has ended it."""
        self._over(EndedBy.PEER)
        self.release()

    def release(self) -> None:
        """Close the socket, if that has not happened."""
        if self._fd < 0:
            return
        self._readable = None
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._fd = -1
        self._sock.close()
        self._released(self)

    def unserved(self, request: Request | None, request_bytes: int) -> None:
        """Record a request that nobody will serve: a probe, or else a sending (None: its bytes are not whole)."""
        work = None if request is None else unserved_work(request, self._board.probes)
        if request is not None and isinstance(work, Probe):
            self.probed(request, NOT_ANSWERED)
            return
        self._board.ledger.record(
            Unserved,
            connection=self.number,
            upstream=self.upstream,
            operation=work.operation if isinstance(work, Work) else None,
            request_bytes=request_bytes,
            body_bytes=self.parser.unfinished_body_bytes if request is None else None,
        )

    def probed(self, request: Request, status: int) -> None:
        """Record a probe that is answered with that status."""
        self._board.ledger.record(
            Probed,
            connection=self.number,
            upstream=self.upstream,
            method=request.method,
            target=request.target,
            status=status,
        )

    def _over(self, by: EndedBy) -> None:
        self.over = True
        self._board.ledger.record(Closed, connection=self.number, by=by)

    def _late(self) -> None:
        for data in self.pieces():
            if not data:
                self.release()
                return
            before = self.parser.unfinished_bytes
            for event in self.feed(data):
                if isinstance(event, Request):
                    if not self.owed:
                        self.unserved(event, before + len(data))
                    self.owed = False
