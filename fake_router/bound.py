"""A socket that is bound, or why none can be: in words that say where one can listen."""

import errno
import socket


class ListenError(OSError):
    """Nobody can listen there; the message quotes host and port, and says where one can."""


class PortInUseError(ListenError):
    """Another socket has the port."""


def bound(host: str, port: int, *, beside: bool = False) -> socket.socket:
    """A bound socket; `beside`: where another one of ours listens. Raises PortInUseError, or another ListenError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except (socket.gaierror, ValueError) as error:  # ValueError: a name that IDNA or C cannot hold
        raise refused(host, port, error) from None
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(beside))
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise refused(host, port, error) from None
    return sock


def written(host: str, port: int) -> str:
    """HOST:PORT, as URLs have it (RFC 3986 s3.2.2)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def refused(host: str, port: int, error: Exception) -> ListenError:
    """What the system refused, in words."""
    number = getattr(error, "errno", None) or 0
    if number == errno.EADDRINUSE:
        return PortInUseError(number, f"{written(host, port)} is in use; expected a free port, or 0 for any")
    match error:
        case socket.gaierror() | ValueError():
            why = getattr(error, "strerror", None) or error
            says = f"{host!r} is not found ({why}); expected an address of this machine"
        case OSError(errno=errno.EADDRNOTAVAIL):
            says = f"{host!r} is no address of this machine; expected one that is, or 0.0.0.0 for all"
        case OSError(errno=errno.EACCES):
            says = f"this user may not listen on port {port!r} of {host!r}; expected 1024 or more"
        case _:
            says = f"cannot listen on {written(host, port)!r}: {getattr(error, 'strerror', None) or error}"
    return ListenError(number, says)
