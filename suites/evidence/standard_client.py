"""http.client of the standard library, on which requests and urllib3 are built."""

import http.client
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from suites.evidence.client import WAITS_FOR_NO_100, Ask, Need, OnHead, OnPiece, Patience
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

_HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class StandardSession:
    """One HTTPConnection, which connects again by itself after it was closed."""

    connection: http.client.HTTPConnection
    read_s: float

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """A connection on which anything failed is closed: the module leaves that to its user."""
        with self._answered(ask, on_head) as response:
            return response.read()

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """`response.read1()`; some versions leave one that was read to its end open (its next request fails then)."""
        with self._answered(ask, on_head) as response, response:
            while piece := response.read1():
                on_piece(piece)

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """Raises NotImplementedError: one connection serves one request after the other."""
        raise NotImplementedError

    @contextmanager
    def _answered(self, ask: Ask, on_head: OnHead) -> Iterator[http.client.HTTPResponse]:
        connection = self.connection
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(self.read_s)
            connection.request(ask.method, ask.target, body=ask.body or None, headers=_HEADERS)
            response = connection.getresponse()
            on_head(response.status)
            yield response
        except Exception:
            connection.close()
            raise


class StandardClient:
    """`connection.request(...)`, `connection.getresponse()`, `response.read()`."""

    name = "http.client"
    package = ""
    methods = ("POST", "GET")
    cannot: Mapping[Need, str] = MappingProxyType(
        {Need.EXPECT: WAITS_FOR_NO_100, Need.POOL: "it has no pool: one connection serves one request after the other"}
    )

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
