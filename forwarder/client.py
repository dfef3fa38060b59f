"""The forwarder as a library: one call, one operation; sent again only on evidence that the policy names."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from forwarder.errors import error_for
from forwarder.evidence import Evidence, Kind
from forwarder.policy import SAFE, Policy
from forwarder.reply import Reply, evidence_of_reply
from forwarder.request import Asked, Request, request_of
from forwarder.settings import Settings
from forwarder.transport import Transport
from forwarder.urls import RotatingUrls, UrlSource
from forwarder.validate import Completion, InvalidResultError, completion_of

Abandoned = Callable[[], Awaitable[bool]]


class Forwarder:
    """Passes completion requests on to a router, over one shared pool of connections.

    urls: one or more router URLs to stick to and move on from, or a source of them. Use it as an async context
    manager, or call start and close; it belongs to the loop on which it was started.
    """

    def __init__(
        self, urls: Sequence[str] | UrlSource, *, policy: Policy = SAFE, settings: Settings | None = None
    ) -> None:
        self._urls: UrlSource = RotatingUrls(urls) if isinstance(urls, Sequence) else urls
        self._policy = policy
        self._settings = settings if settings is not None else Settings()
        self._transport: Transport | None = None
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """Operations that have been asked for and have no outcome yet."""
        return self._in_flight

    async def start(self) -> None:
        """Make the pool. Opens no connection. Raises RuntimeError when it is started already."""
        if self._transport is not None:
            raise RuntimeError("the forwarder is started already; close it first")
        self._transport = Transport(self._settings)

    async def close(self) -> None:
        """Close every connection; operations in flight fail with what is known of them. Safe to call twice."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def complete(self, request: Mapping[str, Any] | bytes, *, abandoned: Abandoned | None = None) -> Completion:
        """POST the request to <url>/v1/completions; the completion, if it is whole and what was asked for.

        Bytes are sent as they are, a mapping is encoded once; every attempt sends the same bytes. abandoned: asked
        before a request is sent again; work that nobody waits for is not begun.

        Raises NotExecutedError, MayHaveRunError, ResultLostError or RejectedError (all ForwardError), RequestError
        when the request cannot be sent, and RuntimeError when the forwarder is not started. Cancelling ends the
        attempt and closes its connection; it may have run.
        """
        if self._transport is None:
            raise RuntimeError("the forwarder is not started; use `async with Forwarder(...)`, or start it")
        transport = self._transport
        prepared = request_of(request)
        self._in_flight += 1
        try:
            return await self._forward(transport, prepared, abandoned)
        finally:
            self._in_flight -= 1

    async def _forward(self, transport: Transport, request: Request, abandoned: Abandoned | None) -> Completion:
        url = self._urls.current()
        failures: list[Evidence] = []
        while True:
            got = self._judged(await transport.send(url, request.body), request.asked)
            if isinstance(got, Completion):
                return got
            failures.append(got)
            pause_s = self._policy.pause_s(failures)
            if pause_s is None:
                raise error_for(failures)
            await asyncio.sleep(pause_s)
            if abandoned is not None and await abandoned():
                raise error_for(failures)
            if self._transport is not transport:
                raise error_for(failures)  # closed meanwhile
            url = self._urls.refresh(url)

    def _judged(self, got: Reply | Evidence, asked: Asked) -> Completion | Evidence:
        if isinstance(got, Evidence):
            return got
        evidence = evidence_of_reply(got, self._policy.contract)
        if evidence is not None:
            return evidence
        try:
            return completion_of(got, asked)
        except InvalidResultError as error:
            says = f"{got.status} from {got.url}, but {error}"
            return Evidence(kind=Kind.RESULT_INVALID, says=says, url=got.url, status=got.status)
