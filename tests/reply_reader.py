"""What a strict client makes of the bytes of one reply: what its peer has seen, in the words of the catalogue."""

from dataclasses import dataclass

import h11

from faults.vocabulary import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a peer saw: how it ended, and of a reply its status, its body and its headers."""

    sight: Sight
    status: int | None = None
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    interim: tuple[int, ...] = ()


class ReplyReader:
    """What a strict client makes of the bytes of one reply, as they come."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        self._http.send(h11.Request(method="POST", target="/", headers=[("Host", "h")]))
        self._http.send(h11.EndOfMessage())
        self._head: h11.Response | None = None
        self._raw = self._body = b""
        self._interim: tuple[int, ...] = ()

    def feed(self, data: bytes) -> Seen | None:
        """Take these in; what was seen, once nothing more can be."""
        self._raw += data
        try:
            self._http.receive_data(data)
            return self._read()
        except h11.RemoteProtocolError:
            flawed = self._raw.startswith((b"HTTP/1.1 2", b"HTTP/1.0 2"))
            return self._seen(Sight.CUT if self._head is not None else Sight.FLAWED if flawed else Sight.GARBLED)

    def ended(self, how: Sight) -> Seen:
        """Nothing more comes: FIN, RESET or SILENCE."""
        if how is Sight.FIN and self._head is not None:
            try:
                self._http.receive_data(b"")
                if (seen := self._read()) is not None:
                    return seen
            except h11.RemoteProtocolError:
                pass
        if self._head is not None:
            return self._seen(Sight.STALL if how is Sight.SILENCE else Sight.CUT)
        left = self._http.trailing_data[0]
        if not left:
            return self._seen(how)
        return self._seen(Sight.HEAD_CUT if left[:5] == b"HTTP/"[: len(left)] else Sight.GARBLED)

    def _read(self) -> Seen | None:
        while True:
            match self._http.next_event():
                case h11.InformationalResponse(status_code=status):
                    self._interim += (status,)
                case h11.Response() as head:
                    self._head = head
                case h11.Data(data=data):
                    self._body += bytes(data)
                case h11.EndOfMessage():
                    assert self._head is not None
                    return self._seen(Sight.WHOLE if self._head.status_code < 300 else Sight.STATUS)
                case _:
                    return None

    def _seen(self, sight: Sight) -> Seen:
        if self._head is None:
            return Seen(sight=sight, interim=self._interim)
        return Seen(
            sight=sight,
            status=self._head.status_code,
            body=self._body,
            headers=tuple(self._head.headers),
            interim=self._interim,
        )
