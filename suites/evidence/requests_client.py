"""requests, which asks urllib3 not to retry."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from suites.evidence.client import WAITS_FOR_NO_100, Ask, Need, OnHead, OnPiece, Patience, hold_on_thread, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

if TYPE_CHECKING:  # it need not be installed
    import requests


@dataclass(frozen=True, slots=True)
class RequestsSession:
    """One Session."""

    session: "requests.Session"
    url: str
    patience: Patience

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        response = self._answered(ask, streamed=False)
        on_head(response.status_code)
        return response.content

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """`response.iter_content(None)`."""
        with self._answered(ask, streamed=True) as response:
            on_head(response.status_code)
            for piece in response.iter_content(None):
                on_piece(piece)

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """On a thread of its own."""
        return hold_on_thread(self, ask, until)

    def _answered(self, ask: Ask, *, streamed: bool) -> "requests.Response":
        timeout = (self.patience.connect_s, self.patience.read_s)
        return self.session.request(
            ask.method, self.url + ask.target, data=ask.body or None, timeout=timeout, stream=streamed
        )


class RequestsClient:
    """`session.post(...)`."""

    name = "requests"
    package = "requests"
    methods = ("POST", "GET")
    cannot: Mapping[Need, str] = MappingProxyType({Need.EXPECT: WAITS_FOR_NO_100})

    def version(self) -> str:
        """Of requests."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[RequestsSession]:
        """With fresh pools."""
        import requests

        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(trust.ca_file)
            session.headers["Content-Type"] = "application/json"
            if patience.pool_s is not None:  # for how long it waits, nothing of it says
                session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=1, pool_block=True))
            yield RequestsSession(session, url, patience)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
