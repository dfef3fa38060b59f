"""httpx, its synchronous client."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from suites.evidence.client import WAITS_FOR_NO_100, Ask, Need, OnHead, OnPiece, Patience, hold_on_thread, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

if TYPE_CHECKING:  # it need not be installed
    import httpx


@dataclass(frozen=True, slots=True)
class HttpxSession:
    """One Client."""

    client: "httpx.Client"

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        response = self.client.request(ask.method, ask.target, content=ask.body or None)
        on_head(response.status_code)
        return response.content

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """`response.iter_bytes()`."""
        with self.client.stream(ask.method, ask.target, content=ask.body or None) as response:
            on_head(response.status_code)
            for piece in response.iter_bytes():
                on_piece(piece)

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """On a thread of its own."""
        return hold_on_thread(self, ask, until)


class HttpxClient:
    """`client.post(...)`."""

    name = "httpx"
    package = "httpx"
    methods = ("POST", "GET")
    cannot: Mapping[Need, str] = MappingProxyType({Need.EXPECT: WAITS_FOR_NO_100})

    def version(self) -> str:
        """Of httpx."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[HttpxSession]:
        """With a fresh pool."""
        import httpx

        with httpx.Client(
            base_url=url,
            headers={"Content-Type": "application/json"},
            timeout=httpx.Timeout(patience.read_s, connect=patience.connect_s, pool=patience.pool_s or patience.read_s),
            limits=httpx.Limits(max_connections=100 if patience.pool_s is None else 1, max_keepalive_connections=20),
            trust_env=False,
            verify=trust.context,  # the default one takes 20 ms to make
        ) as client:
            yield HttpxSession(client)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
