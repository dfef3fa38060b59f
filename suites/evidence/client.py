"""What the matrix needs of an HTTP client: a session of its own, and one request at a time."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from suites.evidence.trust import Trust

OnHead = Callable[[int], None]
OnPiece = Callable[[bytes], None]
WAITS_FOR_NO_100 = "it has no way to wait for 100 Continue: behind a header written by hand the body follows at once"


class Need(StrEnum):
    """What some cases need of a client beyond a plain request."""

    EXPECT = "Expect: 100-continue"
    POOL = "a pool that holds one connection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. expect: it says Expect: 100-continue, and its body waits for the 100 (RFC 9110 s10.1.1)."""

    method: str
    target: str
    body: bytes = b""
    expect: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client waits, in seconds: for a connection, and for bytes of an answer. pool_s: where its pool holds
    one connection, for its turn; None: its pool has no such limit.
    """

    connect_s: float
    read_s: float
    pool_s: float | None = None


class Session(Protocol):
    """One client as its users hold it: one pool, kept over several requests."""

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """Send it and read the answer whole; `on_head` hears its status as soon as the client lets it be seen.

        Raises whatever the client raises: that is what is recorded.
        """

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """The same, with the answer given piece by piece, as the client gives it."""

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """Begin a request, and return when `until`, which blocks, has returned. What is returned waits for its end."""


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

    @property
    def cannot(self) -> Mapping[Need, str]:
        """What it cannot do, with the reason."""

    def version(self) -> str:
        """The version that is installed. Raises MissingClientError."""

    def session(self, url: str, patience: Patience, trust: Trust) -> AbstractContextManager[Session]:
        """A fresh session with that router; `trust` is for https."""

    def reason_of(self, error: Exception) -> str:
        """Why it failed, in one word: the errno, or the client's own word."""


class HangError(Exception):
    """A client waited far beyond its own time-outs, and was stopped from the outside."""


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


def hold_on_thread(session: Session, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
    """`hold` of a session that is called from several threads."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="held")
    held = thread.submit(session.request, ask, lambda _: None)
    thread.shutdown(wait=False)
    until()
    return held.result
