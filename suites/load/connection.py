"""One connection of a caller: a request is written, and its answer comes, or what ended it.

It is no HTTP client of a library: those retry, keep pools, and cost more than what is measured.
"""

import asyncio
from typing import Any, cast

import httptools


class BrokenError(Exception):
    """The connection ended before an answer was whole; the message says how, the same for the same cause."""


class Answer:
    """A whole answer."""

    __slots__ = ("body", "media", "status")

    def __init__(self, status: int, media: bytes, body: bytes) -> None:
        self.status = status
        self.media = media
        self.body = body


class Connection(asyncio.Protocol):
    """Made by a loop's create_connection. One request at a time."""

    __slots__ = (
        "_any_byte",
        "_body",
        "_framed",
        "_in_body",
        "_loop",
        "_media",
        "_parser",
        "_timer",
        "_transport",
        "_waiting",
        "closed",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._parser: Any = None
        self._waiting: asyncio.Future[Answer | None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.closed = False
        self._forget()

    def ask(self, request: bytes, within_s: float) -> "asyncio.Future[Answer | None]":
        """The answer to it; None where it has not come within that time. Raises BrokenError when awaited."""
        self._forget()
        self._waiting = answer = self._loop.create_future()
        self._timer = self._loop.call_later(within_s, self._late)
        self._transport.write(request)
        return answer

    def leave(self, request: bytes) -> None:
        """Send it, and close the connection without waiting for the answer."""
        self._transport.write(request)
        self.close()

    def close(self) -> None:
        """Whatever was written is still sent. Safe to call twice."""
        if not self.closed:
            self.closed = True
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It can be used from now on."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name

    def data_received(self, data: bytes) -> None:
        """Some bytes of an answer, or what nobody has asked for."""
        if self._waiting is None:
            self._transport.abort()
            return
        if self._parser is None:
            self._parser = httptools.HttpResponseParser(self)
        self._any_byte = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._end("its answer was no HTTP")
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """It is over, by FIN or by an error."""
        self.closed = True
        if self._waiting is None:
            return
        if error is None and self._in_body and not self._framed:
            self._whole()  # RFC 9112 s6.3 (8): a body without a length ends with the connection; s8: no head does
            return
        how = "reset" if isinstance(error, ConnectionResetError) else "ended"
        self._end(f"its connection was {how} {'inside its answer' if self._any_byte else 'before its answer'}")

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """The few that matter here."""
        match name.lower():
            case b"content-type":
                self._media = value.partition(b";")[0].strip().lower()
            case b"content-length" | b"transfer-encoding":
                self._framed = True

    def on_headers_complete(self) -> None:
        """What follows is its body."""
        self._in_body = True

    def on_body(self, data: bytes) -> None:
        """Its next part."""
        self._body += data

    def on_message_complete(self) -> None:
        """An interim answer is not the last (RFC 9110 s15.2)."""
        if self._parser.get_status_code() < 200:
            self._forget()
            return
        if not self._parser.should_keep_alive():
            self.close()
        self._whole()

    def _whole(self) -> None:
        waiting = self._done()
        if waiting is not None:
            waiting.set_result(Answer(self._parser.get_status_code(), self._media, bytes(self._body)))

    def _late(self) -> None:
        self._timer = None
        waiting = self._done()
        if waiting is not None:
            self.close()
            waiting.set_result(None)

    def _end(self, says: str) -> None:
        waiting = self._done()
        if waiting is not None:
            waiting.set_exception(BrokenError(says))

    def _done(self) -> "asyncio.Future[Answer | None] | None":
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, None
        return None if waiting is None or waiting.done() else waiting

    def _forget(self) -> None:
        """What came of the answer before."""
        self._any_byte = self._framed = self._in_body = False
        self._media = b""
        self._body = bytearray()
