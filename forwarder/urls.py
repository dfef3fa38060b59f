"""Where the router is: one URL at a time, and another one when that failed."""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit


class UrlSource(Protocol):
    """A source of router URLs, shared by all operations of a forwarder."""

    def current(self) -> str:
        """The URL for a first attempt."""

    def refresh(self, failed: str) -> str:
        """The URL for the next attempt after one at `failed`."""


class RotatingUrls:
    """A fixed list: all operations stick to one URL, and move on to the next one together when it fails.

    A failure that comes late, of a URL that others have already left, moves nobody. A single URL refreshes to
    itself. Raises ValueError for an empty list and for what is no http or https URL.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        if isinstance(urls, str):
            raise ValueError(f"urls is the text {urls!r}; expected a list of router URLs")
        if not urls:
            raise ValueError("no router URL; expected one or more, like http://127.0.0.1:8000")
        self._urls = tuple(_checked(url) for url in urls)
        self._at = 0

    def current(self) -> str:
        """The URL that all stick to."""
        return self._urls[self._at]

    def refresh(self, failed: str) -> str:
        """The next one if all still stick to `failed`, else the one that they have moved on to."""
        if self._urls[self._at] == failed:
            self._at = (self._at + 1) % len(self._urls)
        return self._urls[self._at]


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"router URL {url!r}: {error}; expected one like http://127.0.0.1:8000") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"router URL {url!r}; expected http:// or https:// with a host, like http://127.0.0.1:8000")
    if parts.query or parts.fragment:
        raise ValueError(f"router URL {url!r} has a query or a fragment; expected none: /v1/completions is added to it")
    return url.rstrip("/")
