"""The reference forwarder as one more client: what its table of guesses makes of every fault."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from forwarder.client import Forwarder
from forwarder.errors import ForwardError
from forwarder.policy import NEVER
from forwarder.settings import Settings
from suites.evidence.client import OnHead, Patience, installed
from suites.evidence.trust import Trust

_TURNS = 3  # of the loop, in which it takes in what has arrived


@dataclass(frozen=True, slots=True)
class ReferenceSession:
    """One forwarder that sends nothing again."""

    runner: asyncio.Runner
    forwarder: Forwarder

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """Raises ForwardError with the evidence that it has classified. It has one method and one target."""
        del method, target
        return self.runner.run(self._complete(body, on_head))

    async def _complete(self, body: bytes, on_head: OnHead) -> bytes:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        try:
            completion = await self.forwarder.complete(body)
        except ForwardError as error:
            if error.evidence.status is not None:
                on_head(error.evidence.status)
            raise
        on_head(200)
        return completion.raw


class ReferenceClient:
    """`forwarder.complete(...)` under the policy `never`, with the contract of the others."""

    name = "reference"
    package = "aiohttp"
    methods = ("POST",)

    def version(self) -> str:
        """Of aiohttp: what it guesses from is what that shows."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[ReferenceSession]:
        """On a fresh loop."""
        settings = Settings(
            connect_timeout_ms=int(patience.connect_s * 1000),
            read_timeout_ms=int(patience.read_s * 1000),
            tls=trust.context,
        )
        with asyncio.Runner() as runner:
            forwarder = Forwarder([url], policy=NEVER, settings=settings)
            runner.run(forwarder.start())
            try:
                yield ReferenceSession(runner, forwarder)
            finally:
                runner.run(forwarder.close())

    def reason_of(self, error: Exception) -> str:
        """The kind of evidence that decided."""
        return error.evidence.kind.name if isinstance(error, ForwardError) else ""
