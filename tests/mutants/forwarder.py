"""A forwarder that does everything right, in pieces small enough to break one at a time: every mutant is this class
with one thing changed.
"""

import json
import ssl
from collections.abc import Sequence

from suites.way import Upstreams
from tests.mutants.over_tls import shaken, trusting
from tests.mutants.sending import Address, Got, Link, Seen, dial

# RFC 9110 s9.2.2: not a byte of the request was sent.
UNAPPLIED = frozenset({Seen.REFUSED, Seen.UNCONNECTED, Seen.UNSHAKEN})
NO_WORKERS = (503, b"No available workers")  # the answer that the router publishes as "not accepted"

Result = tuple[tuple[int, ...], str]  # tokens and text of the first choice


class Forwarder:
    """Sticks to one upstream, and moves on to the next when it sends again. One pool, one budget of sendings."""

    attempts = 2

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        self.upstreams = tuple(upstreams)
        self.tls = Upstreams.of(upstreams).way.tls
        self.timeout_s = timeout_s
        self.current = 0
        self.pool: list[Link] = []
        self.in_flight = 0

    # An operation.

    async def forward(self, body: bytes) -> list[Got]:
        """Send it, and again while that is safe; what every sending left in hand."""
        self.in_flight += 1
        try:
            gots: list[Got] = []
            while True:
                gots.append(await self.send(self.upstreams[self.current], body))
                if len(gots) >= self.attempts or not self.may_send_again(gots[-1]):
                    return gots
                self.move_on()
        finally:
            self.in_flight -= 1

    def may_send_again(self, got: Got) -> bool:
        """Only what was never applied."""
        return is_unapplied(got)

    def move_on(self) -> None:
        """The next sending goes to the next upstream."""
        self.current = (self.current + 1) % len(self.upstreams)

    # A sending.

    async def send(self, upstream: Address, body: bytes) -> Got:
        """One sending, over a connection from the pool or a new one."""
        link = self.pooled(upstream) or await self.dial(upstream)
        if isinstance(link, Seen):
            return Got(seen=link)
        try:
            got = await self.ask(link, body)
        except BaseException:
            link.close()
            raise
        self.done_with(link, got)
        return got

    async def dial(self, upstream: Address) -> Link | Seen:
        """A new connection."""
        link = await dial(upstream, self.timeout_s)
        return link if isinstance(link, Seen) or not self.tls else await shaken(link, self.context(), self.timeout_s)

    def context(self) -> ssl.SSLContext:
        """With which it makes its handshakes: it trusts the router's CA alone, and verifies the name."""
        return trusting()

    async def ask(self, link: Link, body: bytes) -> Got:
        """Send and read on that connection."""
        return await link.ask(body, self.timeout_s)

    def pooled(self, upstream: Address) -> Link | None:
        """An idle connection that is fit for a request."""
        for link in [link for link in self.pool if link.upstream == upstream]:
            self.pool.remove(link)
            if self.is_fit(link):
                return link
            link.close()
        return None

    def is_fit(self, link: Link) -> bool:
        """Nothing came on it that nobody asked for, its end included."""
        return link.waiting() is None

    def done_with(self, link: Link, got: Got) -> None:
        """Keep a connection whose answer was read to its end; any other could hold bytes of an old one."""
        if got.seen is Seen.WHOLE and not link.spent:
            self.pool.append(link)
        else:
            link.close()

    # What its caller hears.

    def result(self, gots: Sequence[Got]) -> Result | None:
        """The result of the operation, if there is one."""
        got = gots[-1]
        return result_in(got.body) if got.seen is Seen.WHOLE and got.status == 200 else None

    def says_not_executed(self, gots: Sequence[Got]) -> bool:
        """Claimed only where every sending proves it."""
        return all(map(is_unapplied, gots))

    async def close(self) -> None:
        """Let go of every idle connection."""
        for link in self.pool:
            link.close()
        self.pool.clear()


def is_unapplied(got: Got) -> bool:
    """It was never sent, or the router's contract says that it was not accepted."""
    status, text = NO_WORKERS
    return got.seen in UNAPPLIED or (got.seen is Seen.WHOLE and got.status == status and text in got.body)


def result_in(body: bytes) -> Result | None:
    """The first choice of a completion; None for what is none."""
    try:
        choice = json.loads(body)["choices"][0]
        return tuple(choice["token_ids"]), choice["text"]
    except (ValueError, KeyError, TypeError, IndexError):
        return None
