"""Hostile peers on blocking sockets, a window of them at a time, and idle connections beside them."""

import contextlib
import errno
import random
import resource
import socket
import struct
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.honest import statuses, wrong_with
from benchmarks.hostile import STRIDE, Hostile, Then, body, hostile, post
from benchmarks.peers import HOST

WINDOW = 64  # connections that are open together, beside the idle ones and those that hold
HELD = 300  # half-open connections that are kept, at most
_PATIENCE = struct.pack("ll", 30, 0)  # s: who waits longer was left hanging
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_SOURCES = 64  # addresses: one alone has 28,000 ports, and a minute of TIME_WAIT for each


class FuzzError(Exception):
    """The router did what it must not; the message says with which input."""


@dataclass(slots=True)
class Peers:
    """All peers of one router. `seed` and the place of an input give the input."""

    port: int
    seed: int
    kinds: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    _sources: int = 0

    def input(self, place: int) -> Hostile:
        """That input; every one has numbers of its own."""
        return hostile(random.Random(f"{self.seed}:{place}"), 1 + place * STRIDE)

    def send(self, places: range) -> set[int]:
        """Be these peers, all of them gone afterwards; the operations that the ledger must name. Raises FuzzError."""
        sure: set[int] = set()
        window: list[tuple[int, Hostile, socket.socket]] = []
        held: deque[socket.socket] = deque()
        with contextlib.ExitStack() as stack:
            for place in places:
                one = self.input(place)
                self.kinds[one.kind] += 1
                sure.update(one.operations)
                sock = stack.enter_context(self.connect())
                _send(sock, one)
                if one.then is Then.HOLD:
                    held.append(sock)
                elif one.then is Then.RESET:
                    _reset(sock)
                else:
                    window.append((place, one, sock))
                if len(window) == WINDOW:
                    self._read(window)
                if len(held) > HELD:
                    _reset(held.popleft()) if place % 2 else held.popleft().close()
            self._read(window)
        return sure

    def connect(self) -> socket.socket:
        """A connection from one of many addresses."""
        self._sources = (self._sources + 1) % _SOURCES
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _PATIENCE)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
        sock.bind((f"127.0.1.{1 + self._sources}", 0))
        sock.connect((HOST, self.port))
        return sock

    def is_well(self, sock: socket.socket, operation: int) -> bool:
        """A healthy request on that connection is answered as if nothing had happened."""
        with sock:
            sock.sendall(post(body(operation), b"Connection: close"))
            return statuses(_rest(sock)) == [200]

    def _read(self, window: list[tuple[int, Hostile, socket.socket]]) -> None:
        for place, one, sock in window:
            self._judge(place, one, sock)
        window.clear()

    def _judge(self, place: int, one: Hostile, sock: socket.socket) -> None:
        with sock:
            try:
                data = sock.recv(65_536) if one.then is Then.LEAVE else _rest(sock)
            except BlockingIOError:
                raise FuzzError(self.says(place, one, "it was left hanging")) from None
        wrong = wrong_with(one, data)
        if wrong:
            raise FuzzError(self.says(place, one, wrong))
        self.answers[" ".join(map(str, sorted(set(_found(data))))) or "none"] += 1

    def says(self, place: int, one: Hostile, wrong: str) -> str:
        """What went wrong with that input, and how to see it again."""
        shown = b"".join(one.parts)
        return (
            f"input {place} ({one.kind}): {wrong}; it sent {len(shown)} bytes: {shown[:200]!r}; "
            f"again: python -m benchmarks.router_fuzz --seed {self.seed} --first {place} --inputs 1"
        )


_BIND_ADDRESS_NO_PORT = 24  # linux/in.h: the port is chosen at connect, so that it need be free to that peer only


@contextlib.contextmanager
def idle(peers: Peers, count: int) -> Iterator[list[socket.socket]]:
    """So many connections that say nothing. Raises FuzzError where this process may not open so many."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count + HELD + WINDOW + 100:
        raise FuzzError(f"this process may have {soft} files open; expected more, or fewer --idle: `ulimit -n`")
    socks: list[socket.socket] = []
    try:
        socks.extend(peers.connect() for _ in range(count))
        yield socks
    finally:
        for sock in socks:
            sock.close()


def _send(sock: socket.socket, one: Hostile) -> None:
    try:
        for part in one.parts:
            sock.sendall(part)
        if one.then is Then.HALF_CLOSE:
            sock.shutdown(socket.SHUT_WR)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):  # the router has refused the rest
            raise


def _reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    sock.close()


def _rest(sock: socket.socket) -> bytes:
    """All that comes until the router ends the connection. Raises BlockingIOError when it does not."""
    data = b""
    try:
        while more := sock.recv(65_536):
            data += more
    except ConnectionError:
        pass
    return data


def _found(data: bytes) -> list[int]:
    try:
        return statuses(data)
    except ValueError:
        return []  # the answer to a HEAD that a mutation has made
