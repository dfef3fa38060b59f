"""The system's resolver, as far as names of our routers go: it asks their name servers, over UDP, and no others.

Bare clients resolve by `socket.getaddrinfo`, which no option of theirs replaces; all else goes to the real one.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dns.exception
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype

from fake_router.name_server import ZONE, server_of

_PATIENCE_S = 0.3  # glibc waits for 5 s
_lock = threading.Lock()
_users = 0
_real: Callable[..., Any] = socket.getaddrinfo


@contextmanager
def names_of_routers() -> Iterator[None]:
    """Names of routers lead to them, in this whole process."""
    global _users
    with _lock:
        _users += 1
        socket.getaddrinfo = _getaddrinfo
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                socket.getaddrinfo = _real


def _getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or not name.endswith(ZONE):
        return _real(host, port, *args, **kwargs)
    return _real(_asked(name), port, *args, **kwargs)


def _asked(name: str) -> str:
    """Its address. Raises gaierror, as glibc does for the same answer."""
    query = dns.message.make_query(name, dns.rdatatype.A)
    host, port = server_of(name)
    try:
        answer = dns.query.udp(query, host, port=port, timeout=_PATIENCE_S)
    except dns.exception.Timeout:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution") from None
    if answer.rcode() == dns.rcode.NXDOMAIN:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if answer.rcode() != dns.rcode.NOERROR:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return str(answer.answer[0][0])
