"""The forwarder as a library: one call, one operation; sent again only on evidence that the policy names."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from forwarder.body import Body
from forwarder.carrier import Carrier, carrier_named
from forwarder.errors import RequestError, error_for
from forwarder.evidence import Evidence, Kind
from forwarder.policy import SAFE, Policy
from forwarder.reply import Reply, evidence_of_reply
from forwarder.request import NO_HEADERS, Api, Asked, Request, request_of
from forwarder.settings import Settings
from forwarder.stream import LostStreamError, StreamEvent, events_of
from forwarder.urls import RotatingUrls, UrlSource
from forwarder.validate import Completion, InvalidResultError, completion_of

_EXPECTATION_FAILED = 417

Abandoned = Callable[[], Awaitable[bool]]
T = TypeVar("T")
Read = Callable[[Reply, Asked], T]


class Forwarder:
    """Passes completion requests on to a router, over one shared pool of connections.

    urls: one or more router URLs to stick to and move on from, or a source of them. Use it as an async context
    manager, or call start and close; it belongs to the loop on which it was started. on_retry: told the evidence on
    which a request is sent again, each time. http_client: what carries the attempts (httpx: to be measured against).
    Raises ValueError for one that is not known, and MissingCarrierError for one that is not installed.
    """

    def __init__(
        self,
        urls: Sequence[str] | UrlSource,
        *,
        policy: Policy = SAFE,
        settings: Settings | None = None,
        on_retry: Callable[[Evidence], None] | None = None,
        http_client: str = "aiohttp",
    ) -> None:
        self._urls: UrlSource = RotatingUrls(urls) if isinstance(urls, Sequence) else urls
        self._policy = policy
        self._settings = settings if settings is not None else Settings()
        self._carried_by = carrier_named(http_client)
        self._transport: Carrier | None = None
        self._in_flight = 0
        self._on_retry = on_retry
        self._closed = asyncio.Event()

    @property
    def in_flight(self) -> int:
        """Operations that have been asked for and have no outcome yet."""
        return self._in_flight

    async def start(self) -> None:
        """Make the pool. Opens no connection. Raises RuntimeError when it is started already."""
        if self._transport is not None:
            raise RuntimeError("the forwarder is started already; close it first")
        self._transport = self._carried_by(self._settings)
        self._closed = asyncio.Event()  # of this loop

    async def close(self) -> None:
        """Close every connection; operations in flight fail with what is known of them. Safe to call twice."""
        transport, self._transport = self._transport, None
        self._closed.set()
        if transport is not None:
            await transport.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def complete(
        self,
        request: Mapping[str, Any] | bytes | Request,
        *,
        api: Api = Api.COMPLETIONS,
        abandoned: Abandoned | None = None,
        expect: bool = False,
    ) -> Completion:
        """POST the request to the router; the completion, if it is whole and what was asked for.

        Bytes are sent as they are, a mapping is encoded once; every attempt sends the same bytes. api: which of the
        router's paths (a prepared Request knows). abandoned: asked before a request is sent again; work that nobody
        waits for is not begun. expect: the body is sent once the router has said 100 Continue (RFC 9110 s10.1.1), so
        that one which it turns down is not sent at all.

        Raises NotExecutedError, MayHaveRunError, ResultLostError or RejectedError (all ForwardError), RequestError
        when the request cannot be sent, and RuntimeError when the forwarder is not started. Cancelling ends the
        attempt and closes its connection; it may have run.
        """
        prepared = request_of(request, api)
        if prepared.expect is not expect:
            prepared = replace(prepared, expect=expect)
        return await self.forward(prepared, completion_of, abandoned=abandoned)

    async def forward(
        self,
        request: Request,
        read: Read[T],
        *,
        headers: Mapping[str, str] = NO_HEADERS,
        abandoned: Abandoned | None = None,
    ) -> T:
        """POST the request to the router, with these headers beside the usual ones; what `read` makes of the answer.

        read: given a whole 2xx, it returns the result, or raises InvalidResultError where there is none; it is called
        once at most for each attempt, and what it returns is returned as it is. Raises what `complete` raises.
        """
        transport = self._started()
        if request.asked.stream:
            raise RequestError("stream is true; leave it out, or use `stream` of this forwarder")
        if request.headers is not headers:
            request = replace(request, headers=headers)
        with self._counted():
            got = await self._forward(transport, request, read, abandoned, [])
            assert not isinstance(got, Body)  # that comes for a stream alone
            return got

    async def stream(
        self,
        request: Mapping[str, Any] | bytes | Request,
        *,
        api: Api = Api.COMPLETIONS,
        abandoned: Abandoned | None = None,
    ) -> AsyncGenerator[StreamEvent, None]:
        """The events of a streamed completion, each as soon as it has come whole and is found right.

        It is sent again, if at all, before the first of them, and read from the router no faster than it is iterated.
        The last one (`done`) comes only when all has come that was asked for, and the answer has ended as its framing
        says. Only silence is timed: there is no deadline on the whole. Iterate inside `contextlib.aclosing`: leaving
        early closes the connection to the router, which ends the work.

        Raises what `complete` raises; after the first event ResultLostError alone.
        """
        transport, prepared = self._started(), request_of(request, api)
        if not prepared.asked.stream:
            raise RequestError("stream is not true; expected true, or use `complete` of this forwarder")
        with self._counted():
            failures: list[Evidence] = []
            body = await self._forward(transport, prepared, completion_of, abandoned, failures)
            assert isinstance(body, Body)  # a Completion comes for what is no stream alone
            try:
                async with aclosing(events_of(body, prepared.asked, self._settings.max_event_bytes)) as events:
                    async for event in events:
                        yield event
            except LostStreamError as error:
                raise error_for([*failures, error.evidence]) from None
            finally:
                body.close()

    def _started(self) -> Carrier:
        if self._transport is None:
            raise RuntimeError("the forwarder is not started; use `async with Forwarder(...)`, or start it")
        return self._transport

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    async def _forward(
        self,
        transport: Carrier,
        request: Request,
        read: Read[T],
        abandoned: Abandoned | None,
        failures: list[Evidence],
    ) -> T | Body:
        url = self._urls.current()
        while True:
            got = self._judged(await transport.send(url, request), request.asked, read)
            if not isinstance(got, Evidence):
                return got
            failures.append(got)
            pause_s = self._policy.pause_s(failures)
            if pause_s is None:
                raise error_for(failures)
            await self._pause(pause_s)
            if abandoned is not None and await abandoned():
                raise error_for(failures)
            if self._transport is not transport:
                raise error_for(failures)  # closed meanwhile
            if self._on_retry is not None:
                self._on_retry(got)
            url = self._urls.refresh(url)
            if got.status == _EXPECTATION_FAILED:
                request = replace(request, expect=False)  # RFC 9110 s10.1.1: repeat it without the expectation

    async def _pause(self, pause_s: float) -> None:
        """Before something is sent again; at most until the forwarder is closed, after which nothing is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._closed.wait()

    def _judged(self, got: Reply | Body | Evidence, asked: Asked, read: Read[T]) -> T | Body | Evidence:
        if not isinstance(got, Reply):
            return got
        evidence = evidence_of_reply(got, self._policy.contract)
        if evidence is not None:
            return evidence
        try:
            return read(got, asked)
        except InvalidResultError as error:
            says = f"{got.status} from {got.url}, but {error}"
            return Evidence(kind=Kind.RESULT_INVALID, says=says, url=got.url, status=got.status)
