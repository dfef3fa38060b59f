"""One request that was written, on a connection of its own, and whose reply nobody has read yet: what is done with it
is its caller's choice. It may be read, waited for unread, or left in one of four ways.
"""

import asyncio
import contextlib
import socket
import struct
import time
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self, assert_never

from suites.caller import NO_CONNECTION, connecting_socket, read_reply
from suites.endpoint import Endpoint
from suites.history import Arrival
from suites.pipe import Pipe, in_words, pipe_on
from suites.reading import Reading, Reply
from suites.request import Request
from suites.tinker.vanishing import vanish

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: close() sends RST
_MOST_UNREAD_BYTES = 1 << 24
_LOOK_S = 0.001


class Departure(StrEnum):
    """How a caller leaves a call."""

    FIN = "fin"  # it closes its connection; what has come is taken first, for a close over unread bytes sends a reset
    RESET = "reset"  # it resets its connection
    HALF_CLOSE = "half-close"  # it ends its own side, and still reads
    VANISH = "vanish"  # no FIN, no reset, and nothing is acknowledged any more


@dataclass(slots=True, kw_only=True)
class OpenCall:
    """Made by open_call. Use it as a context manager, or close it: what vanished is reset then."""

    request: Request
    left: Departure | None = None
    _address: tuple[str, int]
    _sock: socket.socket
    _pipe: Pipe
    _reading: Reading = field(default_factory=Reading)
    _reply: Reply | None = None
    _is_read: bool = False

    async def reply(self, within_ms: int) -> Reply | None:
        """Its reply, read now; None where it has not come whole within that time: it may be asked for again."""
        if self._reply is not None:
            return self._reply
        self._is_read = True
        try:
            async with asyncio.timeout(within_ms / 1000):
                self._reply = await read_reply(self._pipe, self._reading)
        except TimeoutError:
            return None
        finally:
            self._is_read = False
        return self._reply

    async def arrived(self, within_ms: int) -> bool:
        """The whole reply lies in the receive buffer of its socket, where nobody has asked for it before, and stays
        there unread; False where that time was over before. Raises ValueError over TLS, where nobody can look into it.
        """
        if type(self._pipe) is not Pipe:
            raise ValueError("a reply that lies unread over TLS; expected a server that speaks none")
        deadline_s = time.monotonic() + within_ms / 1000
        while not self._lies_whole():
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(_LOOK_S)  # bytes that are not taken make a socket readable for ever: no event
        return True

    def leave(self, how: Departure) -> None:
        """Its caller leaves now; the kernel knows when this returns.

        Raises OSError where it cannot vanish, and ValueError for one that has left, or whose reply is being read.
        """
        if self._is_read:
            raise ValueError(
                f"leave({how!r}) of a call whose reply is being read; expected that reading to be cancelled"
            )
        if self.left is not None:
            raise ValueError(f"leave({how!r}) of a call that was left by {self.left!r}; expected one that was not")
        match how:
            case Departure.FIN:
                self._drain()
                self._sock.close()
            case Departure.RESET:
                self._reset()
            case Departure.HALF_CLOSE:
                with contextlib.suppress(OSError):  # it has ended already
                    self._sock.shutdown(socket.SHUT_WR)
            case Departure.VANISH:
                vanish(self._sock)
            case _:
                assert_never(how)
        self.left = how
        if how is not Departure.HALF_CLOSE and self._reply is None:
            self._reply = self._reading.reply(Arrival.LEFT, f"its caller left ({how})")

    def close(self) -> None:
        """It is over: of a vanished one, by a reset. Safe to call twice."""
        if self.left is Departure.VANISH:
            self._reset()
        self._sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reset(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._sock.close()

    def _drain(self) -> None:
        with contextlib.suppress(OSError):  # BlockingIOError among them: nothing is left
            while self._sock.recv(1 << 16):
                pass

    def _lies_whole(self) -> bool:
        try:
            unread = self._sock.recv(_MOST_UNREAD_BYTES, socket.MSG_PEEK)
        except OSError:
            return False
        looking = Reading()
        self.request.written(looking.http, self._address)
        reply = looking.feed(unread) if unread else None
        return reply is not None and reply.arrival is Arrival.WHOLE


async def open_call(endpoint: Endpoint, request: Request, *, within_ms: int = 10_000) -> OpenCall:
    """Connect and write that request. Never raises for what the peer does: then its reply says so."""
    address, connects_to = endpoint.address, endpoint.way_in or endpoint.address
    sock = connecting_socket(connects_to[0])
    call = OpenCall(request=request, _address=address, _sock=sock, _pipe=pipe_on(sock, address[0], endpoint.tls))
    try:
        parts = request.written(call._reading.http, address)
        async with asyncio.timeout(within_ms / 1000):
            await asyncio.get_running_loop().sock_connect(sock, connects_to)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await call._pipe.open()
            for part in parts.at_once:
                await call._pipe.send(part)
    except TimeoutError:
        call._reply = call._reading.reply(Arrival.HUNG, f"not written within {within_ms} ms")
    except OSError as error:
        call._reply = call._reading.reply(Arrival.NOTHING, f"{NO_CONNECTION}: {in_words(error)}")
    except BaseException:
        sock.close()
        raise
    return call
