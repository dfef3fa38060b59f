"""One sending of one request over a raw socket, and what its sender has in hand afterwards."""

import asyncio
import errno
import socket
import ssl
from dataclasses import dataclass
from enum import Enum

import h11

Address = tuple[str, int]

READ_BYTES = 1 << 16


class Seen(Enum):
    """How a sending ended, in wire order."""

    REFUSED = "the connection was refused"
    UNCONNECTED = "no connection within the connect timeout"
    UNSHAKEN = "the TLS handshake failed"
    BROKEN = "the TLS session broke before an answer"
    RESET = "the connection broke before an answer"
    CLOSED = "the connection was closed before an answer"
    SILENCE = "no answer within the read timeout"
    GARBLED = "bytes that are no HTTP answer"
    CUT = "an answer that ends before its end"
    WHOLE = "a whole answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What one sending left in hand. `reused`: it went over a connection that had carried another before."""

    seen: Seen
    status: int | None = None
    content_type: str = ""
    retry_after: str = ""
    body: bytes = b""
    reused: bool = False

    @property
    def success_head(self) -> bool:
        """The router said 2xx, whatever followed."""
        return self.status is not None and 200 <= self.status < 300


class Link:
    """One connection. `spent`: it can carry no further request."""

    def __init__(self, sock: socket.socket, upstream: Address) -> None:
        self.sock = sock
        self.upstream = upstream
        self.used = False
        self.spent = False

    def waiting(self) -> bytes | None:
        """The beginning of what came while nobody asked; empty once the peer has ended it, None where nothing came."""
        try:
            return self.sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    async def ask(self, body: bytes, timeout_s: float, *, withheld: bool = False) -> Got:
        """Send one request and read its answer; `timeout_s` bounds every wait for more of it. `withheld`: its body
        is announced and not sent.
        """
        reused, self.used, self.spent = self.used, True, True
        http = h11.Connection(h11.CLIENT)
        answer = _Answer(reused)
        try:
            await self.send(request_bytes(http, self.upstream, body, withheld=withheld))
        except OSError:
            answer.broken = True  # RFC 9112 s9.5: what the peer sent before it closed can still be read
        while True:
            try:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    async with asyncio.timeout(timeout_s):
                        http.receive_data(await self.receive())
                    answer.any_byte = answer.any_byte or http.trailing_data[0] != b""
                    continue
            except TimeoutError:
                return answer.got(Seen.SILENCE)
            except ssl.SSLError:
                return answer.got(Seen.BROKEN)
            except OSError:
                return answer.got(Seen.RESET)
            except h11.RemoteProtocolError:
                return answer.got(answer.ended())
            if isinstance(event, h11.EndOfMessage):
                self.spent = http.their_state is not h11.DONE or http.trailing_data[0] != b""
                return answer.got(Seen.WHOLE)
            answer.take(event)

    async def send(self, data: bytes) -> None:
        """All of it."""
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def receive(self) -> bytes:
        """Some of what has come; empty when the peer has ended it."""
        return await asyncio.get_running_loop().sock_recv(self.sock, READ_BYTES)

    def close(self) -> None:
        """Let go of the socket."""
        self.sock.close()


async def dial(upstream: Address, timeout_s: float) -> Link | Seen:
    """A new connection, or why there is none."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        async with asyncio.timeout(timeout_s):
            await asyncio.get_running_loop().sock_connect(sock, upstream)
    except TimeoutError:
        sock.close()
        return Seen.UNCONNECTED
    except OSError as error:
        sock.close()
        # A reset that comes while the handshake is looked at may be any reset: no proof of a refusal.
        return Seen.REFUSED if error.errno == errno.ECONNREFUSED else Seen.RESET
    except BaseException:
        sock.close()
        raise
    return Link(sock, upstream)


class _Answer:
    """What has come so far."""

    def __init__(self, reused: bool) -> None:
        self.any_byte = False
        self.broken = False
        self._reused = reused
        self._head: h11.Response | None = None
        self._body = bytearray()

    def take(self, event: object) -> None:
        if isinstance(event, h11.Response):
            self._head = event
        elif isinstance(event, h11.Data):
            self._body += event.data

    def ended(self) -> Seen:
        """How, when the peer has ended it. A reset that the sending has met is not met again by the reading."""
        if self.any_byte:
            return Seen.GARBLED
        return Seen.RESET if self.broken else Seen.CLOSED

    def got(self, seen: Seen) -> Got:
        if self._head is None:
            return Got(seen=seen, reused=self._reused)
        headers = {name.decode(): value.decode() for name, value in self._head.headers}
        return Got(
            seen=seen if seen is Seen.WHOLE else Seen.CUT,
            status=self._head.status_code,
            content_type=headers.get("content-type", ""),
            retry_after=headers.get("retry-after", ""),
            body=bytes(self._body),
            reused=self._reused,
        )


def request_bytes(http: h11.Connection, upstream: Address, body: bytes, *, withheld: bool = False) -> bytes:
    """One request; `withheld`: without the body that it announces."""
    headers = [
        ("Host", f"{upstream[0]}:{upstream[1]}"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
    ]
    head = http.send(h11.Request(method="POST", target="/v1/completions", headers=headers)) or b""
    content = (http.send(h11.Data(data=body)) or b"") + (http.send(h11.EndOfMessage()) or b"")
    return head if withheld else head + content
