"""requests, which asks urllib3 not to retry."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suites.evidence.client import OnHead, Patience, installed
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

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """The body is read by the call itself, so a head without its body is not seen."""
        timeout = (self.patience.connect_s, self.patience.read_s)
        response = self.session.request(method, self.url + target, data=body or None, timeout=timeout)
        on_head(response.status_code)
        return response.content


class RequestsClient:
    """`session.post(...)`."""

    name = "requests"
    package = "requests"
    methods = ("POST", "GET")

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
            yield RequestsSession(session, url, patience)

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)
