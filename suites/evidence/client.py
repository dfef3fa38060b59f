"""What the matrix needs of an HTTP client: a session of its own, and one request at a time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from suites.evidence.trust import Trust

OnHead = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client waits, in seconds: for a connection, and for bytes of an answer."""

    connect_s: float
    read_s: float


class Session(Protocol):
    """One client as its users hold it: one pool, kept over several requests."""

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """Send it and read the answer whole; `on_head` hears its status as soon as the client lets it be seen.

        Raises whatever the client raises: that is what is recorded.
        """


class Client(Protocol):
    """One client, plainly used: everything but its time-outs is as it comes."""

    @property
    def name(self) -> str:
        """What the matrix calls it."""

    @property
    def package(self) -> str:
        """What has to be installed; empty for the standard library."""

    @property
    def methods(self) -> tuple[str, ...]:
        """What it can be asked to send."""

    def version(self) -> str:
        """The version that is installed. Raises MissingClientError."""

    def session(self, url: str, patience: Patience, trust: Trust) -> AbstractContextManager[Session]:
        """A fresh session with that router; `trust` is for https."""

    def reason_of(self, error: Exception) -> str:
        """Why it failed, in one word: the errno, or the client's own word."""


class MissingClientError(Exception):
    """A client is not installed; the message says what to do."""


def installed(name: str, package: str) -> str:
    """The version of that package. Raises MissingClientError."""
    try:
        return version(package)
    except PackageNotFoundError:
        raise MissingClientError(
            f"the client {name!r} is not installed; expected it: pip install 'retryproof[clients]', or {package} alone"
        ) from None
