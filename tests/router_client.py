"""A router to test, and a plain blocking client that says what a peer really sees of it."""

import errno
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from fake_router.content import prompt_tokens
from fake_router.entries import AnyEntry, Entry
from fake_router.identity import IDENTITY
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.acts import needs_expectation, needs_stream, strikes_idle
from faults.catalogue import fault_named
from faults.form import Form
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Sight
from suites.workload import completion_request
from tests.reply_reader import ReplyReader, Seen
from tests.tls_client import CERTIFICATE_REQUIRED, AlertError, HandshakeError, TlsSocket, TruncationError

E = TypeVar("E", bound=Entry)

HOST = "127.0.0.1"
READ_TIMEOUT_MS = 60  # what plans are armed with
GIVES_UP_MS = 400  # a blocking client that waits this long for what does not come
LONG_MS = 10_000  # a limit for what does come


def request(body: bytes, *, target: str = "/v1/completions", head: Sequence[str] = (), method: str = "POST") -> bytes:
    """One HTTP/1.1 request."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {HOST}", f"Content-Length: {len(body)}", *head, "", ""]
    return "\r\n".join(lines).encode() + body


def work(operation: int, **more: Any) -> bytes:
    """The request that carries that operation."""
    return request(msgspec.json.encode({"model": "m", "prompt": prompt_tokens(operation), **more}))


def asking(operation: int, form: Form) -> bytes:
    """The request that carries that operation, in that form."""
    return request(msgspec.json.encode(completion_request(operation, form)), target=form.api.path)


class Client:
    """One connection of a plain client."""

    def __init__(self, port: int, *, connect_ms: int = LONG_MS, tls: ssl.SSLContext | None = None) -> None:
        self.socket: Any = socket.create_connection((HOST, port), timeout=connect_ms / 1000)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a request waits for a handshake's ACK
        if tls is not None:
            self.socket = TlsSocket(self.socket, tls)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    @property
    def port(self) -> int:
        """Its own port."""
        return int(self.socket.getsockname()[1])

    def send(self, data: bytes) -> None:
        """Send, without a look at what comes back."""
        self.socket.sendall(data)

    def see(self, *, within_ms: int = LONG_MS) -> Seen:
        """Read one reply, or whatever comes instead of it."""
        self.socket.settimeout(within_ms / 1000)
        reader = ReplyReader()
        while True:
            try:
                data = self.socket.recv(65_536)
            except TimeoutError:
                return reader.ended(Sight.SILENCE)
            except ConnectionResetError:
                return reader.ended(Sight.RESET)
            except TruncationError:
                return reader.ended(Sight.TRUNCATION)
            except AlertError as error:
                return reader.ended(Sight.TLS_REFUSED if str(error) == CERTIFICATE_REQUIRED else Sight.ALERT)
            seen = reader.feed(data) if data else reader.ended(Sight.FIN)
            if seen is not None:
                return seen

    def take(self, count: int, *, within_ms: int = LONG_MS) -> bytes:
        """So many bytes, or fewer where the connection ends, or where no more come."""
        self.socket.settimeout(within_ms / 1000)
        taken = b""
        try:
            while len(taken) < count and (data := self.socket.recv(count - len(taken))):
                taken += data
        except (TimeoutError, ConnectionResetError):
            pass
        return taken

    def ask(self, data: bytes, *, within_ms: int = LONG_MS) -> Seen:
        """Send a request and read what comes."""
        try:
            self.send(data)
        except ConnectionError:
            return Seen(sight=Sight.RESET)
        return self.see(within_ms=within_ms)

    def bodies(self, count: int) -> Iterator[bytes]:
        """The bodies of so many replies that are framed by their length."""
        with self.socket.makefile("rb") as file:
            for _ in range(count):
                length = 0
                while (line := file.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length"):
                        length = int(line.split(b":")[1])
                yield file.read(length)

    def ends_by(self, *, within_ms: int = LONG_MS) -> Sight:
        """How the connection ends when nothing more comes on it."""
        return self.see(within_ms=within_ms).sight


def dial(port: int, data: bytes, *, within_ms: int = LONG_MS, tls: ssl.SSLContext | None = None) -> Seen:
    """Connect, send a request, read what comes, and close."""
    try:
        client = Client(port, connect_ms=within_ms, tls=tls)
    except HandshakeError as error:
        return Seen(sight=error.sight)
    except ConnectionRefusedError:
        return Seen(sight=Sight.REFUSED)
    except ConnectionResetError:
        return Seen(sight=Sight.RESET)
    except TimeoutError:
        return Seen(sight=Sight.CONNECT_TIMEOUT)
    except OSError as error:
        if error.errno != errno.EHOSTUNREACH:
            raise
        return Seen(sight=Sight.UNREACHABLE)
    with client:
        return client.ask(data, within_ms=within_ms)


@dataclass(frozen=True, slots=True)
class Stage:
    """A router on its thread, as a test sees it."""

    thread: RouterThread
    router: Router

    @property
    def port(self) -> int:
        """The port of its first upstream."""
        return self.router.ports[0]

    def arm(self, plan: Plan, *, first: int = 1) -> None:
        """Let that plan strike operations from `first` on."""
        self.thread.run(self.router.arm, plan, first_operation=first, read_timeout_ms=READ_TIMEOUT_MS)

    def heal(self) -> None:
        """End all faults."""
        self.thread.run(self.router.heal)

    def drain(self) -> None:
        """Read what lies unread."""
        self.thread.run(self.router.drain)

    def idle(self) -> bool:
        """Wait until no work is open."""
        return self.thread.run(self.router.wait_idle, LONG_MS / 1000)

    def entries(self) -> tuple[AnyEntry, ...]:
        """The ledger, after everything that is ready on the router's loop has happened."""
        for _ in range(3):
            self.thread.run(self.router.busy)
        return self.router.ledger.since()

    def of(self, kind: type[E]) -> list[E]:
        """The entries of that kind."""
        return [entry for entry in self.entries() if isinstance(entry, kind)]

    def until_unconnected(self) -> None:
        """Wait until the router has no socket towards a peer."""
        deadline = time.monotonic() + LONG_MS / 1000
        while count := self.thread.run(self.router.connections):
            assert time.monotonic() < deadline, f"{count} connections are open"

    def until(self, kind: type[E], count: int) -> list[E]:
        """Wait until so many entries of that kind are in the ledger."""
        deadline = time.monotonic() + LONG_MS / 1000
        while len(found := self.of(kind)) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} {kind.__name__}"
        return found


@contextmanager
def staged(*, upstreams: int = 1, tls: bool = False, **options: Any) -> Iterator[Stage]:
    """A router on a thread of its own, with these options of Router."""
    identity = IDENTITY if tls else None
    with RouterThread() as thread:
        yield Stage(thread, thread.run(thread.start_router, upstreams=upstreams, identity=identity, **options))


def one(*faults: str, tls: bool = False, **more: Any) -> Plan:
    """A plan with one operation that meets these faults, exchange by exchange; a stream, where one of them needs it."""
    more.setdefault("stream", any(needs_stream(fault_named(fault).act) for fault in faults))
    return Plan(tls=tls, operations=(PlannedOperation(faults=faults, **more),))


def faulty(
    fault: str,
    *,
    upstream: int | None = None,
    connections: int | None = None,
    upstreams: int = 1,
    tls: bool = False,
    **more: Any,
) -> Plan:
    """A plan with a faulty listener, and one operation such as that fault needs."""
    act = fault_named(fault).act
    operation = {"reused": strikes_idle(act), "expect": needs_expectation(act), **more}
    listener = PlannedListener(fault=fault, upstream=upstream, connections=connections)
    return Plan(operations=(PlannedOperation(**operation),), listeners=(listener,), upstreams=upstreams, tls=tls)
