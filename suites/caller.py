"""A caller of subjects: one HTTP/1.1 request on one connection of its own, in as many TCP segments as asked for.

It reports what arrived and how, and judges nothing. It is no HTTP client of a library, because those retry, reuse and
hide how a connection ended.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

import h11

from faults.plan import EACH_BYTE
from suites.history import Arrival
from suites.leaving import Leave, close, until_told
from suites.pipe import Pipe, in_words, pipe_on

EXPECT_S = 1.0
_MAX_HEAD_BYTES = 1 << 20
_HTTP_NAME = b"HTTP/"
NO_CONNECTION = "no connection"  # how what is said of a reply begins when there was nobody to call


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a caller saw. `says` is for reports: how the connection ended when it ended badly. Header names are in
    lower case.
    """

    arrival: Arrival
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    says: str = ""


async def call(
    address: tuple[str, int],
    *,
    target: str,
    body: bytes,
    headers: Mapping[str, str],
    segments: int,
    ceiling_ms: int,
    method: str = "POST",
    tls: ssl.SSLContext | None = None,
    expect: bool = False,
    leave: Leave | None = None,
) -> Reply:
    """Send one request and wait for its answer, at most `ceiling_ms`; then the arrival is HUNG.

    Never raises for what the peer does. Host (unless given) and Content-Length are added. The bytes leave as one
    segment, as two (head, then body), or byte by byte (0), as far as they fit the path's segment size; with
    `tls`, over TLS. Raises ValueError for other numbers of segments. expect: the body waits for 100 Continue, or for
    EXPECT_S (RFC 9110 s10.1.1). leave: the caller leaves before the answer when it is told to; then the arrival is
    LEFT.
    """
    if segments not in (EACH_BYTE, 1, 2):
        raise ValueError(f"segments is {segments!r}; expected 1, 2 (head and body apart), or 0 (each byte)")
    reading = _Reading()
    host, port = address
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    all_headers = {"Host": authority, **headers, "Content-Length": str(len(body))}
    if expect:
        all_headers["Expect"] = "100-continue"
    head = reading.http.send(h11.Request(method=method, target=target, headers=list(all_headers.items()))) or b""
    payload = (reading.http.send(h11.Data(data=body)) or b"") + (reading.http.send(h11.EndOfMessage()) or b"")
    messages = [head, payload] if segments == 2 or expect else [head + payload]
    each = segments == EACH_BYTE
    parts = [message[at : at + 1] for message in messages for at in range(len(message))] if each else messages
    at_once = (len(head) if each else 1) if expect else len(parts)
    with connecting_socket(host) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # no segment waits for another
        try:
            async with asyncio.timeout(ceiling_ms / 1000):
                exchange = _exchange(pipe_on(sock, host, tls), address, parts[:at_once], parts[at_once:], reading)
                return await _until_left(sock, exchange, reading, leave)
        except TimeoutError:
            return reading.reply(Arrival.HUNG, f"no whole answer within {ceiling_ms} ms")


async def _until_left(
    sock: socket.socket, exchange: Coroutine[Any, Any, Reply], reading: "_Reading", leave: Leave | None
) -> Reply:
    if leave is None:
        return await exchange
    reply = await until_told(exchange, leave, sock)
    if reply is None:
        close(sock, leave)
        return reading.reply(Arrival.LEFT, leave.says)
    return reply


def connecting_socket(host: str) -> socket.socket:
    """A socket that can connect to that host: over IPv6 where it is such an address, else over IPv4."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    return sock


async def _exchange(
    pipe: Pipe, address: tuple[str, int], parts: list[bytes], expecting: list[bytes], reading: "_Reading"
) -> Reply:
    """What is `expecting` waits for 100 Continue. An answer may come before all is written (RFC 9112 s9.5)."""
    try:
        await asyncio.get_running_loop().sock_connect(pipe.sock, address)
        await pipe.open()
    except OSError as error:
        return reading.reply(Arrival.NOTHING, f"{NO_CONNECTION}: {in_words(error)}")
    sending = asyncio.ensure_future(_send(pipe, parts, expecting, reading))
    await asyncio.sleep(0)  # what the kernel takes at once has left before an answer is looked at
    try:
        while True:
            try:
                data = await pipe.receive()
            except OSError as error:
                return reading.ended(f"the connection ended: {in_words(error)}", clean=False)
            reply = reading.feed(data) if data else reading.ended("the connection ended: EOF", clean=True)
            if reply is not None:
                return reply
    finally:
        sending.cancel()
        await asyncio.wait([sending])


async def _send(pipe: Pipe, parts: list[bytes], expecting: list[bytes], reading: "_Reading") -> None:
    # An error here shows when reading: the peer may have answered before it closed (RFC 9112 s9.5).
    with contextlib.suppress(OSError):
        for part in parts:
            await pipe.send(part)
        if expecting:
            with contextlib.suppress(TimeoutError):  # RFC 9110 s10.1.1: no client waits for ever
                await asyncio.wait_for(reading.continued.wait(), EXPECT_S)
        for part in expecting:
            await pipe.send(part)


@dataclass(slots=True)
class _Reading:
    """What has arrived so far."""

    http: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
    )
    continued: asyncio.Event = field(default_factory=asyncio.Event)
    any_byte: bool = False
    response: h11.Response | None = None
    body: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Reply | None:
        """Take bytes in; the reply, once it is known how it arrived."""
        self.any_byte = True
        try:
            self.http.receive_data(data)
            reply = self._reply_if_whole()
            if reply is None and self.response is None and not self._may_be_head():
                return self.reply(Arrival.GARBLED, f"no HTTP response: {self.http.trailing_data[0][:40]!r}")
            return reply
        except h11.RemoteProtocolError as error:
            return self.reply(Arrival.GARBLED, f"no HTTP response: {error}")

    def ended(self, says: str, *, clean: bool) -> Reply:
        """The connection has ended, by FIN (clean) or by an error."""
        if not self.any_byte:
            return self.reply(Arrival.NOTHING, says)
        if self.response is None:
            return self.reply(Arrival.GARBLED, f"{says}, inside the head of a response")
        if clean:  # RFC 9112 s6.3 (8): a body without a length ends with the connection, but not with a reset (s8)
            try:
                self.http.receive_data(b"")
                if (reply := self._reply_if_whole()) is not None:
                    return reply
            except h11.RemoteProtocolError:
                pass
        return self.reply(Arrival.CUT, says)

    def _may_be_head(self) -> bool:
        """What has come of the next head begins like one: a client does not wait for the end of a line that cannot be
        a status line (RFC 9112 s4).
        """
        begun = self.http.trailing_data[0][: len(_HTTP_NAME)]
        return begun == _HTTP_NAME[: len(begun)]

    def _reply_if_whole(self) -> Reply | None:
        while True:
            match self.http.next_event():
                case h11.Response() as response:
                    self.response = response
                case h11.Data(data=data):
                    self.body += data
                case h11.EndOfMessage():
                    return self.reply(Arrival.WHOLE, "")
                case h11.InformationalResponse():
                    self.continued.set()
                    continue  # RFC 9110 s15.2: a client reads on
                case h11.PAUSED:
                    return self.reply(Arrival.GARBLED, "101 Switching Protocols that nobody asked for")
                case _:
                    return None  # NEED_DATA

    def reply(self, arrival: Arrival, says: str) -> Reply:
        """The reply as far as it has arrived."""
        if self.response is None:
            return Reply(arrival=arrival, says=says)
        return Reply(
            arrival=arrival,
            status=self.response.status_code,
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.response.headers),
            body=bytes(self.body),
            says=says,
        )
