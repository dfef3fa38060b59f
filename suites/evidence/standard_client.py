"""http.client of the standard library, on which requests and urllib3 are built."""

import http.client
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from suites.evidence.client import OnHead, Patience
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

_HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class StandardSession:
    """One HTTPConnection, which connects again by itself after it was closed."""

    connection: http.client.HTTPConnection
    read_s: float

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """A connection on which anything failed is closed: the module leaves that to its user."""
        connection = self.connection
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(self.read_s)
            connection.request(method, target, body=body or None, headers=_HEADERS)
            response = connection.getresponse()
            on_head(response.status)
            return response.read()
        except Exception:
            connection.close()
            raise


class StandardClient:
    """`connection.request(...)`, `connection.getresponse()`, `response.read()`."""

    name = "http.client"
    package = ""
    methods = ("POST", "GET")

    def version(self) -> str:
        """Of Python, its minor version."""
        return ".".join(platform.python_version_tuple()[:2])

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[StandardSession]:
        """Not connected yet."""
        scheme, _, address = url.partition("://")
        if scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                address, timeout=patience.connect_s, context=trust.context
            )
        else:
            connection = http.client.HTTPConnection(address, timeout=patience.connect_s)
        try:
            yield StandardSession(connection, patience.read_s)
        finally:
            connection.close()

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
