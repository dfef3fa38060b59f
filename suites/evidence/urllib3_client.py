"""urllib3, with the retries that it makes when nobody tells it otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suites.evidence.client import OnHead, Patience, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

if TYPE_CHECKING:  # it need not be installed
    import urllib3


@dataclass(frozen=True, slots=True)
class Urllib3Session:
    """One PoolManager."""

    pools: "urllib3.PoolManager"
    url: str

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        response = self.pools.request(method, self.url + target, body=body or None)
        on_head(response.status)
        return bytes(response.data)


class Urllib3Client:
    """`pools.request("POST", ...)`."""

    name = "urllib3"
    package = "urllib3"
    methods = ("POST", "GET")

    def version(self) -> str:
        """Of urllib3."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[Urllib3Session]:
        """With fresh pools."""
        import urllib3

        timeout = urllib3.Timeout(connect=patience.connect_s, read=patience.read_s)
        headers = {"Content-Type": "application/json"}
        with urllib3.PoolManager(headers=headers, timeout=timeout, ssl_context=trust.context) as pools:
            yield Urllib3Session(pools, url)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
