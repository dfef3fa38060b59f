"""Bytes to requests. No socket is known here, and no fault.

Any split of the same bytes gives the same events. What is no HTTP/1 request becomes a `Malformed` event, never an
exception; after it the connection cannot be read further.
"""

from dataclasses import dataclass
from typing import Any

import httptools
import msgspec

from fake_router.heads import Head, recall, remember

MAX_HEAD_BYTES = 65_536
MAX_BODY_BYTES = 64 * 1024 * 1024


class Request(msgspec.Struct, kw_only=True, gc=False):
    """A whole request. `http10`: a chunked reply to it must not be sent (RFC 9112 s6.1)."""

    method: str
    target: str
    body: bytes
    keep_alive: bool
    http10: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """Bytes that are no request that this router can read, and the status that says so."""

    status: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expecting:
    """The peer withholds its body until it sees 100 Continue (RFC 9110 s10.1.1)."""


Event = Request | Malformed | Expecting


class RequestParser:
    """Reads requests one after the other from the bytes of one connection."""

    __slots__ = (
        "_body", "_body_bytes", "_events", "_expects", "_framing", "_head", "_head_bytes", "_in_body", "_over",
        "_parser", "_target", "_unread", "begun",
    )  # fmt: skip

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._over = False
        self._unread = 0  # bytes of the message that is being read
        self._parser: Any = httptools.HttpRequestParser(self)
        self._head: Head | None = None  # of the request before, where that was remembered
        self.on_message_begin()
        self.begun = False  # a part of a request has come

    @property
    def unfinished_bytes(self) -> int:
        """At least how many bytes of a request have come whose end has not; 0 between requests."""
        return max(self._unread, 1) if self.begun and not self._over else 0

    @property
    def unfinished_body_bytes(self) -> int | None:
        """How much of the body has come of a request whose head has come and whose end has not; else None."""
        return self._body_bytes if self.begun and self._in_body and not self._over else None

    def feed(self, data: bytes) -> list[Event]:
        """The events that these further bytes complete, in order.

        Nothing follows a Malformed, or a request that says `Connection: close` (RFC 9112 s9.6).
        """
        fresh = not (self.begun or self._over)
        head = self._head
        if fresh and (
            (head is not None and len(data) == head.request_bytes and data.startswith(head.data))
            or (head := recall(data)) is not None
        ):
            self._head, body = head, data[len(head.data) :]
            return [Request(method=head.method, target=head.target, body=body, keep_alive=True, http10=head.http10)]
        self._events = []
        parser = self._parser
        rest: bytes | None = data
        while rest is not None and not self._over:
            rest = self._feed_once(rest)
        if fresh and parser is self._parser and not self.begun:  # of an ignored upgrade there is another parser
            self._remember(data)
        return self._events

    def _remember(self, data: bytes) -> None:
        match self._events:
            case [Request(keep_alive=True) as request]:
                remember(data, request.method, request.target, request.http10, len(request.body))

    def _feed_once(self, data: bytes) -> bytes | None:
        """Take these bytes in, up to a request that asks for an upgrade; what lies behind it, if anything does."""
        self._unread += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade()
            return data[int(upgrade.args[0]) :] or None
        except httptools.HttpParserError as error:
            self._stop(error)
        else:
            if self.begun and not self._in_body and self._unread > 2 * MAX_HEAD_BYTES:
                self._refuse(431, f"a head of over {self._unread} bytes; expected at most {MAX_HEAD_BYTES}")
        return None

    def _ignore_upgrade(self) -> None:
        """A server may answer as if there were no Upgrade (RFC 9110 s7.8): the request is read again without it."""
        request = self._events.pop() if self._events else None
        if not isinstance(request, Request) or request.method == "CONNECT":
            self._over = True  # what follows a CONNECT is a tunnel, and no request
            if request is not None:
                self._events.append(request)
            return
        framing = b"".join(b"%b: %b\r\n" % pair for pair in self._framing)
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(f"{request.method} {request.target} HTTP/1.1\r\n".encode("latin-1") + framing + b"\r\n")

    def _stop(self, error: Exception) -> None:
        cause = error.__context__
        if isinstance(cause, _RefusedError):
            self._refuse(cause.status, cause.why)
        elif not self._over:  # after `Connection: close` the parser calls whatever comes an error
            self._refuse(400, f"no HTTP/1 request: {error}")

    def _refuse(self, status: int, why: str) -> None:
        self._over = True
        self._events.append(Malformed(status=status, why=why))

    # What httptools calls.

    def on_message_begin(self) -> None:
        self.begun = True
        self._in_body = self._expects = False
        self._target = b""
        self._body: list[bytes] = []
        self._framing: list[tuple[bytes, bytes]] = []
        self._body_bytes = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._head_bytes += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        length = len(name)
        self._head_bytes += length + len(value)
        if length == 14 and name.lower() == b"content-length":
            self._framing.append((name, value))
            if value.isdigit() and int(value) > MAX_BODY_BYTES:
                raise _RefusedError(413, f"a body of {value.decode()} bytes; expected at most {MAX_BODY_BYTES}")
        elif length == 17 and name.lower() == b"transfer-encoding":
            self._framing.append((name, value))
        elif length == 6 and name.lower() == b"expect":
            self._expects = value.lower() == b"100-continue"

    def on_headers_complete(self) -> None:
        self._in_body = True
        if self._head_bytes > MAX_HEAD_BYTES:
            raise _RefusedError(431, f"a head of {self._head_bytes} bytes; expected at most {MAX_HEAD_BYTES}")
        if self._expects and self._parser.get_http_version() != "1.0":
            self._events.append(Expecting())

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._body_bytes += len(body)
        if self._body_bytes > MAX_BODY_BYTES:
            raise _RefusedError(413, f"a body of over {MAX_BODY_BYTES} bytes; expected at most that")

    def on_message_complete(self) -> None:
        parser = self._parser
        keep_alive = parser.should_keep_alive()
        self._over = not keep_alive
        self._events.append(
            Request(
                method=parser.get_method().decode("ascii"),
                target=self._target.decode("latin-1"),
                body=self._body[0] if len(self._body) == 1 else b"".join(self._body),
                keep_alive=keep_alive,
                http10=parser.get_http_version() == "1.0",
            )
        )
        self._unread = 0
        self._body = []
        self.begun = self._in_body = False


class _RefusedError(Exception):
    """A limit is passed; raised inside a callback of the parser."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
