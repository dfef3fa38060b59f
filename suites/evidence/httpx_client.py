"""httpx, its synchronous client."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suites.evidence.client import OnHead, Patience, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

if TYPE_CHECKING:  # it need not be installed
    import httpx


@dataclass(frozen=True, slots=True)
class HttpxSession:
    """One Client."""

    client: "httpx.Client"

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        response = self.client.request(method, target, content=body or None)
        on_head(response.status_code)
        return response.content


class HttpxClient:
    """`client.post(...)`."""

    name = "httpx"
    package = "httpx"
    methods = ("POST", "GET")

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
            timeout=httpx.Timeout(patience.read_s, connect=patience.connect_s),
            trust_env=False,
            verify=trust.context,  # the default one takes 20 ms to make
        ) as client:
            yield HttpxSession(client)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
