"""How the forwarder talks to its router, apart from when it sends again."""

import ssl
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Limits and times. Raises ValueError for what cannot be.

    max_connections: sockets to the router at most; 0 is no limit. Who waits for a free one waits as long as it
    takes: queueing is no failure.
    connect_timeout_ms: resolving a name, and then the TCP and TLS handshake. A saturated router takes tens of
    seconds to accept.
    read_timeout_ms: silence of the router, before its answer and inside it. It bounds the writing of a request
    too. There is no deadline on the whole: a generation takes as long as it takes.
    keep_alive_ms: how long an idle connection is kept; shorter than the router keeps it, or requests meet
    connections that are being closed (RFC 9112 s9.5).
    max_response_bytes: a larger answer is not read to its end; a stream may be of any length, since it is not kept.
    max_event_bytes: a stream with a larger event is not read on.
    tls: the context for https; None: the system's certificates.
    nameservers: whom to ask for the names in URLs, each as HOST:PORT; none: the system's resolver.
    """

    max_connections: int = 0
    connect_timeout_ms: int = 60_000
    read_timeout_ms: int = 2_048_000
    keep_alive_ms: int = 15_000
    max_response_bytes: int = 256 * 1024 * 1024
    max_event_bytes: int = 4 * 1024 * 1024
    tls: ssl.SSLContext | None = None
    nameservers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_connections < 0:
            raise ValueError(f"max_connections is {self.max_connections!r}; expected 1 or more, or 0 for no limit")
        for server in self.nameservers:
            host, _, port = server.rpartition(":")
            if not host or not port.isdecimal():
                raise ValueError(f"nameserver {server!r}; expected HOST:PORT")
        for name in ("connect_timeout_ms", "read_timeout_ms", "keep_alive_ms", "max_response_bytes", "max_event_bytes"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected more than 0")
