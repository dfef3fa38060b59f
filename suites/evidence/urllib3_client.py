"""urllib3, with the retries that it makes when nobody tells it otherwise."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from suites.evidence.client import WAITS_FOR_NO_100, Ask, Need, OnHead, OnPiece, Patience, hold_on_thread, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

if TYPE_CHECKING:  # it need not be installed
    import urllib3


@dataclass(frozen=True, slots=True)
class Urllib3Session:
    """One PoolManager."""

    pools: "urllib3.PoolManager"
    url: str
    pool_s: float | None

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        response = self._answered(ask, preloaded=True)
        on_head(response.status)
        return bytes(response.data)

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """`response.stream()`."""
        with self._answered(ask, preloaded=False) as response:
            on_head(response.status)
            for piece in response.stream():
                on_piece(piece)

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """On a thread of its own."""
        return hold_on_thread(self, ask, until)

    def _answered(self, ask: Ask, *, preloaded: bool) -> "urllib3.BaseHTTPResponse":
        return self.pools.request(
            ask.method,
            self.url + ask.target,
            body=ask.body or None,
            preload_content=preloaded,
            pool_timeout=self.pool_s,
        )


class Urllib3Client:
    """`pools.request("POST", ...)`."""

    name = "urllib3"
    package = "urllib3"
    methods = ("POST", "GET")
    cannot: Mapping[Need, str] = MappingProxyType({Need.EXPECT: WAITS_FOR_NO_100})

    def version(self) -> str:
        """Of urllib3."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[Urllib3Session]:
        """With fresh pools."""
        import urllib3

        timeout = urllib3.Timeout(connect=patience.connect_s, read=patience.read_s)
        headers = {"Content-Type": "application/json"}
        with urllib3.PoolManager(
            headers=headers, timeout=timeout, ssl_context=trust.context, block=patience.pool_s is not None
        ) as pools:  # each of its pools holds one connection as it comes; `block` makes that a limit
            yield Urllib3Session(pools, url, patience.pool_s)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
