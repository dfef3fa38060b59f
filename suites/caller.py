"""A caller of subjects: one HTTP/1.1 request on one connection of its own, in as many TCP segments as asked for.

It reports what arrived and how, and judges nothing. It is no HTTP client of a library, because those retry, reuse and
hide how a connection ended.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from suites.apart import read_by_peer
from suites.history import Arrival
from suites.leaving import Leave, close, until_told
from suites.pipe import Pipe, in_words, pipe_on
from suites.reading import Reading, Reply
from suites.request import Parts, Request

EXPECT_S = 1.0
NO_CONNECTION = "no connection"  # how what is said of a reply begins when there was nobody to call


async def call(
    address: tuple[str, int],
    request: Request,
    *,
    ceiling_ms: int,
    tls: ssl.SSLContext | None = None,
    leave: Leave | None = None,
    way_in: tuple[str, int] | None = None,
) -> Reply:
    """Send one request and wait for its answer, at most `ceiling_ms`; then the arrival is HUNG.

    Never raises for what the peer does. With `tls`, over TLS. A body that expects waits for 100 Continue, or for
    EXPECT_S. leave: the caller leaves before the answer when it is told to; then the arrival is LEFT. way_in: it
    connects there instead, to what leads to that address.
    """
    reading = Reading() if leave is None else Reading(begun=leave.begun)
    parts = request.written(reading.http, address)
    connects_to = way_in or address
    with connecting_socket(connects_to[0]) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # no segment waits for another
        try:
            async with asyncio.timeout(ceiling_ms / 1000):
                exchange = _exchange(pipe_on(sock, address[0], tls), connects_to, parts, reading)
                return await _until_left(sock, exchange, reading, leave)
        except TimeoutError:
            return reading.reply(Arrival.HUNG, f"no whole answer within {ceiling_ms} ms")


async def _until_left(
    sock: socket.socket, exchange: Coroutine[Any, Any, Reply], reading: Reading, leave: Leave | None
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


async def _exchange(pipe: Pipe, address: tuple[str, int], parts: Parts, reading: Reading) -> Reply:
    """An answer may come before all is written (RFC 9112 s9.5)."""
    try:
        await asyncio.get_running_loop().sock_connect(pipe.sock, address)
        await pipe.open()
    except OSError as error:
        return reading.reply(Arrival.NOTHING, f"{NO_CONNECTION}: {in_words(error)}")
    sending = asyncio.ensure_future(_send(pipe, parts, reading))
    await asyncio.sleep(0)  # what the kernel takes at once has left before an answer is looked at
    try:
        return await read_reply(pipe, reading)
    finally:
        sending.cancel()
        await asyncio.wait([sending])


async def read_reply(pipe: Pipe, reading: Reading) -> Reply:
    """Read until it is known how the answer has arrived; and what has come behind a whole one by then."""
    while True:
        try:
            data = await pipe.receive()
        except OSError as error:
            return reading.ended(f"the connection ended: {in_words(error)}", clean=False)
        reply = reading.feed(data) if data else reading.ended("the connection ended: EOF", clean=True)
        if reply is not None:
            return replace(reply, behind=reply.behind + pipe.waiting()) if reply.arrival is Arrival.WHOLE else reply


async def _send(pipe: Pipe, parts: Parts, reading: Reading) -> None:
    # An error here shows when reading: the peer may have answered before it closed (RFC 9112 s9.5).
    with contextlib.suppress(OSError):
        for place, part in enumerate(parts.at_once):
            if place and len(parts.at_once) == 2:
                await read_by_peer(pipe.sock)
            await pipe.send(part)
        if parts.expecting:
            with contextlib.suppress(TimeoutError):  # RFC 9110 s10.1.1: no client waits for ever
                await asyncio.wait_for(reading.continued.wait(), EXPECT_S)
        for part in parts.expecting:
            await pipe.send(part)
