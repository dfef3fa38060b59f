"""One listening socket, and the acts that strike before there is a connection: refuse, and drop the SYN.

A second socket, bound and never listening, holds the port while nobody listens on it. Both have SO_REUSEADDR:
Linux lets such sockets share a port as long as none of the others listens.
"""

import asyncio
import contextlib
import errno
import select
import socket
import struct
from collections.abc import Callable

from fake_router.bound import bound, refused
from fake_router.packet_filter import make_reachable, make_unreachable

BACKLOG = 65_535  # what net.core.somaxconn allows of it; a burst of connects is not dropped
SMALLEST_BUFFER = 1  # the kernel makes it as small as it lets one be (measured: 2304 bytes)
MAX_FILLERS = 8
_FILLER_MS = 100
_RETRY_ACCEPT_S = 0.05
_QUEUED = struct.Struct("=I")  # tcpi_unacked in tcp_info: of a listening socket, the length of its queue


class Listener:
    """Accepts connections and hands each to `accepted` with the peer's port."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, host: str, port: int, accepted: Callable[[socket.socket, int], None]
    ) -> None:
        self._loop = loop
        self._host = host
        self._accepted = accepted
        self._sock: socket.socket | None = None
        self._filler: socket.socket | None = None
        self._filler_port = 0
        self._filtered = False
        self._waiting: Callable[[], None] | None = None  # called in place of accepting
        self._small = False
        self._holder = bound(host, port)
        self.port: int = self._holder.getsockname()[1]
        try:
            self._listen()
        except BaseException:
            self._holder.close()
            raise

    @property
    def listening(self) -> bool:
        """A SYN may be answered; it need not be, when the accept queue is full."""
        return self._sock is not None

    def refuse(self) -> None:
        """The port stays ours, and the kernel answers every SYN to it with RST."""
        self._listening()
        self._accept_all()  # a connection that waits to be accepted must not be reset
        self._close()

    def take_little(self) -> None:
        """What is accepted from now on has the smallest receive buffer that there is.

        It must be set before a connection is made: a window that has been offered is not taken back.
        """
        self.refuse()
        self._small = True
        self._listen()

    def hold(self, waiting: Callable[[], None]) -> None:
        """Accept nothing, and call `waiting` as long as connections lie in the queue, until `look_away`."""
        self._listening()
        self._waiting = waiting
        self._watch()

    def look_away(self) -> None:
        """Call nobody, and accept nothing."""
        self._loop.remove_reader(self._listening_socket.fileno())

    def queued(self) -> int:
        """How many connections lie in the accept queue."""
        info = self._listening_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return int(_QUEUED.unpack_from(info, 24)[0])

    def reset_queue(self) -> None:
        """Close the listening socket, so that the kernel resets what lies in its queue. Another one listens before,
        so that nobody is refused.
        """
        old = self._listening_socket
        self._loop.remove_reader(old.fileno())
        for sock in (self._holder, old):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._listen(beside=True)
        old.close()
        for sock in (self._holder, self._listening_socket):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 0)

    def take_queue(self) -> list[tuple[socket.socket, int]]:
        """Accept what lies in the queue, for the caller: each with the peer's port."""
        taken: list[tuple[socket.socket, int]] = []
        accepted, self._accepted = self._accepted, lambda sock, port: taken.append((sock, port))
        try:
            self._accept_all()
        finally:
            self._accepted = accepted
        return taken

    def become_unreachable(self) -> None:
        """The kernel answers every SYN to the port with ICMP host unreachable. Raises PacketFilterError."""
        self._listening()
        make_unreachable(self.port)
        self._filtered = True

    def drop_syns(self) -> None:
        """Fill the accept queue with one connection of our own, so that the kernel drops every further SYN.

        Raises RuntimeError when others keep connecting, so that none of ours gets into the queue.
        """
        sock = self._listening()
        self._loop.remove_reader(sock.fileno())
        sock.listen(0)  # Linux: room for backlog + 1 connections
        for _ in range(MAX_FILLERS):
            self._accept_all()
            filler = socket.socket(self._holder.family, socket.SOCK_STREAM)
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect((self._host, self.port))
            if not _connected(filler):
                filler.close()  # another connection was faster and has the place; it is accepted, and we try again
                continue
            self._filler, self._filler_port = filler, filler.getsockname()[1]
            return
        raise RuntimeError(f"no filler got into the accept queue of {self._host}:{self.port}; expected an idle subject")

    def restore(self) -> None:
        """Accept again, whatever was done before."""
        self._unfilter()
        if self._waiting is not None:
            self._waiting = None
            self._watch()
        if self._small:
            self.refuse()
            self._small = False
        if self._sock is None:
            self._listen()
        elif self._filler is not None:
            self._sock.listen(BACKLOG)
            self._accept_all()
            self._filler.close()
            self._filler = None
            self._watch()

    def close(self) -> None:
        """Free the port. Safe to call twice."""
        self._unfilter()
        if self._filler is not None:
            self._filler.close()
            self._filler = None
        if self._sock is not None:
            self._close()
        self._holder.close()

    def _unfilter(self) -> None:
        if self._filtered:
            make_reachable(self.port)
            self._filtered = False

    def _close(self) -> None:
        sock = self._listening_socket
        self._loop.remove_reader(sock.fileno())
        sock.close()
        self._sock = None

    def _watch(self) -> None:
        self._loop.add_reader(self._listening_socket.fileno(), self._waiting or self._accept_all)

    @property
    def _listening_socket(self) -> socket.socket:
        assert self._sock is not None
        return self._sock

    def _listening(self) -> socket.socket:
        if self._sock is None or self._filler is not None or self._filtered or self._waiting is not None:
            raise RuntimeError(f"{self._host}:{self.port} is faulty already; expected a healthy listener")
        return self._sock

    def _listen(self, *, beside: bool = False) -> None:
        sock = bound(self._host, self.port, beside=beside)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what it accepts inherits this
            if self._small:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALLEST_BUFFER)  # and this
            sock.listen(BACKLOG)
        except OSError as error:
            sock.close()
            raise refused(self._host, self.port, error) from None
        self._sock = sock
        self._watch()

    def _accept_all(self) -> None:
        while (sock := self._sock) is not None:
            try:
                accepted, address = sock.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    self._pause()  # the connection stays in the queue, and its fd readable
                    return
                raise
            if self._filler is not None and address[1] == self._filler_port:
                accepted.close()
                continue
            accepted.setblocking(False)
            self._accepted(accepted, address[1])

    def _pause(self) -> None:
        assert self._sock is not None
        self._loop.remove_reader(self._sock.fileno())
        self._loop.call_later(_RETRY_ACCEPT_S, self._unpause)

    def _unpause(self) -> None:
        if self._sock is not None and self._filler is None:
            self._watch()


def _connected(sock: socket.socket) -> bool:
    """A connect that was begun has succeeded; on loopback it does at once, or its SYN has been dropped."""
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    return bool(poll.poll(_FILLER_MS)) and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
