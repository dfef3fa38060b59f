"""The answer that a caller reads: what has come of it, and how it has arrived. It judges nothing."""

import asyncio
from dataclasses import dataclass, field

import h11

from suites.history import Arrival

_MAX_HEAD_BYTES = 1 << 20
_HTTP_NAME = b"HTTP/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a caller saw. `says` is for reports: how the connection ended when it ended badly. Header names are in
    lower case. behind: what had come behind a whole answer, and is no part of it.
    """

    arrival: Arrival
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    behind: bytes = b""
    says: str = ""


@dataclass(slots=True)
class Reading:
    """What has arrived so far. `continued` is set by an interim response, `begun` by the first content."""

    http: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
    )
    continued: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    _any_byte: bool = False
    _response: h11.Response | None = None
    _body: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Reply | None:
        """Take bytes in; the reply, once it is known how it arrived."""
        self._any_byte = True
        try:
            self.http.receive_data(data)
            reply = self._reply_if_whole()
            if reply is None and self._response is None and not self._may_be_head():
                return self.reply(Arrival.GARBLED, f"no HTTP response: {self.http.trailing_data[0][:40]!r}")
            return reply
        except h11.RemoteProtocolError as error:
            return self.reply(Arrival.GARBLED, f"no HTTP response: {error}")

    def ended(self, says: str, *, clean: bool) -> Reply:
        """The connection has ended, by FIN (clean) or by an error."""
        if not self._any_byte:
            return self.reply(Arrival.NOTHING, says)
        if self._response is None:
            return self.reply(Arrival.GARBLED, f"{says}, inside the head of a response")
        if clean:  # RFC 9112 s6.3 (8): a body without a length ends with the connection, but not with a reset (s8)
            try:
                self.http.receive_data(b"")
                if (reply := self._reply_if_whole()) is not None:
                    return reply
            except h11.RemoteProtocolError:
                pass
        return self.reply(Arrival.CUT, says)

    def reply(self, arrival: Arrival, says: str) -> Reply:
        """The reply as far as it has arrived."""
        if self._response is None:
            return Reply(arrival=arrival, says=says)
        return Reply(
            arrival=arrival,
            status=self._response.status_code,
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self._response.headers),
            body=bytes(self._body),
            behind=self.http.trailing_data[0] if arrival is Arrival.WHOLE else b"",
            says=says,
        )

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
                    self._response = response
                case h11.Data(data=data):
                    self._body += data
                    self.begun.set()
                case h11.EndOfMessage():
                    return self.reply(Arrival.WHOLE, "")
                case h11.InformationalResponse():
                    self.continued.set()
                    continue  # RFC 9110 s15.2: a client reads on
                case h11.PAUSED:
                    return self.reply(Arrival.GARBLED, "101 Switching Protocols that nobody asked for")
                case _:
                    return None  # NEED_DATA
