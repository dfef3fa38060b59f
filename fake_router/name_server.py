"""A name server on loopback: it knows the names of one router's upstreams, and answers wrongly where a fault says so.

Answers have a TTL of 0, so that a resolver that keeps to it asks again for the next connection.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import assert_never

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from faults.acts import Resolution

ZONE = "retryproof.test"  # RFC 6761 s6.2: `test` is never delegated
STALE_ADDRESS = "127.0.0.2"  # loopback as well; nothing listens there on the port of an upstream
_MAX_BYTES = 4096


def name_of_upstream(upstream: int, server: tuple[str, int]) -> str:
    """The name under which that name server knows the upstream; it tells whom to ask, so no other server knows it."""
    host, port = server
    return f"upstream-{upstream}-at-{host.replace('.', '-')}-{port}.{ZONE}"


def server_of(name: str) -> tuple[str, int]:
    """The name server that knows that name. Raises ValueError for a name that is none of ours."""
    label, _, _ = name.partition(".")
    *host, port = label.partition("-at-")[2].split("-")
    return ".".join(host), int(port)


class NameServer:
    """Answers over UDP from the time it is made until it is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, host: str, upstreams: int) -> None:
        self._loop = loop
        self._address = host
        self._faulty: dict[int, tuple[Resolution, Callable[[str], None]]] = {}
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.setblocking(False)
        self._sock.bind((host, 0))
        self.port: int = self._sock.getsockname()[1]
        server = (host, self.port)
        self._upstreams = {dns.name.from_text(name_of_upstream(n, server)): n for n in range(upstreams)}
        loop.add_reader(self._sock.fileno(), self._readable)

    def misresolve(self, upstream: int, how: Resolution, asked: Callable[[str], None]) -> None:
        """Answer wrongly for the name of that upstream: a stale address once, all else until it is healed. `asked`
        hears the type of each question that is answered so, before the answer is sent.
        """
        self._faulty[upstream] = how, asked

    def heal(self, upstream: int) -> None:
        """Answer rightly."""
        self._faulty.pop(upstream, None)

    def close(self) -> None:
        """Free the socket. Safe to call twice."""
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock.fileno())
            self._sock.close()

    def _readable(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                data, peer = self._sock.recvfrom(_MAX_BYTES)
                try:
                    answer = self._answer(dns.message.from_wire(data))
                except dns.exception.DNSException:
                    continue  # no question that could be answered
                if answer is not None:
                    with contextlib.suppress(OSError):  # a resolver that is gone gets nothing
                        self._sock.sendto(answer.to_wire(), peer)

    def _answer(self, query: dns.message.Message) -> dns.message.Message | None:
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.AA
        question = query.question[0] if query.question else None
        upstream = None if question is None else self._upstreams.get(question.name)
        if question is None or upstream is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
            return answer
        how = self._strike(upstream, question.rdtype)
        match how:
            case Resolution.SILENCE:
                return None
            case Resolution.NXDOMAIN:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            case Resolution.SERVFAIL:
                answer.set_rcode(dns.rcode.SERVFAIL)
            case Resolution.STALE | None:
                if question.rdtype == dns.rdatatype.A:
                    address = self._address if how is None else STALE_ADDRESS
                    answer.answer.append(dns.rrset.from_text(question.name, 0, "IN", "A", address))
            case _:
                assert_never(how)
        return answer

    def _strike(self, upstream: int, rdtype: dns.rdatatype.RdataType) -> Resolution | None:
        """How this question is to be failed; None: it is not."""
        how, asked = self._faulty.get(upstream, (None, None))
        if how is None or asked is None:
            return None
        if how is Resolution.STALE:
            if rdtype != dns.rdatatype.A:
                return None
            del self._faulty[upstream]
        asked(dns.rdatatype.to_text(rdtype))
        return how
