"""The reference forwarder as one more client: what its table of guesses makes of every fault."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from forwarder.client import Forwarder
from forwarder.errors import ForwardError
from forwarder.policy import NEVER
from forwarder.settings import Settings
from suites.evidence.aiohttp_client import TURNS, bounded, hold_on_loop
from suites.evidence.client import Ask, Need, OnHead, OnPiece, Patience, installed
from suites.evidence.trust import Trust


@dataclass(frozen=True, slots=True)
class ReferenceSession:
    """One forwarder that sends nothing again."""

    runner: asyncio.Runner
    forwarder: Forwarder

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """Raises ForwardError with the evidence that it has classified. It has one method and one target."""
        return self.runner.run(bounded(self._complete(ask, on_head)))

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """Its events, which it gives once each is found right."""
        self.runner.run(bounded(self._stream(ask, on_head, on_piece)))

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """On the same loop."""
        return hold_on_loop(self.runner, self._complete(ask, lambda _: None), until)

    async def _complete(self, ask: Ask, on_head: OnHead) -> bytes:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        with _telling(on_head):
            completion = await self.forwarder.complete(ask.body, expect=ask.expect)
        on_head(200)
        return completion.raw

    async def _stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        with _telling(on_head):
            async with aclosing(self.forwarder.stream(ask.body)) as events:
                async for event in events:
                    on_piece(event.raw)
        on_head(200)


@contextmanager
def _telling(on_head: OnHead) -> Iterator[None]:
    """Of an answer that is no result, what its error knows."""
    try:
        yield
    except ForwardError as error:
        if error.evidence.status is not None:
            on_head(error.evidence.status)
        raise


class ReferenceClient:
    """`forwarder.complete(...)` under the policy `never`, with the contract of the others."""

    name = "reference"
    package = "aiohttp"
    methods = ("POST",)
    cannot: Mapping[Need, str] = MappingProxyType({})

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
            max_connections=0 if patience.pool_s is None else 1,
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
