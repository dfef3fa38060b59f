"""One attempt over httpx, as such servers are first written: a pool of its default kind, whose turn is waited for 300 s
at most. It is what the transport over aiohttp is measured against, and is imported for that alone.

In which phase an attempt failed is taken from the class of httpx's exception: httpx tells no other way.
"""

import asyncio
import ssl
from collections.abc import Callable
from functools import cache

import httpx

from forwarder.body import HOW_TO_WAIT_LONGER, Body, CutError, silent, words_of
from forwarder.evidence import Evidence, Kind
from forwarder.reply import Reply
from forwarder.request import Request
from forwarder.settings import Settings
from forwarder.validate import JSON_TYPE, STREAM_TYPE, wrong_with_head

POOL_TIMEOUT_S = 300.0
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


class HttpxBody(Body):
    """A body that httpx reads; `closed` is told of its end, and ends the answer."""

    def __init__(
        self, url: str, response: httpx.Response, read_timeout_ms: int, closed: Callable[[Body], None]
    ) -> None:
        super().__init__(url, response.status_code)
        self.response = response
        self._pieces = response.aiter_raw()
        self._read_timeout_ms = read_timeout_ms
        self._closed = closed

    async def piece(self) -> bytes:
        """What has come next; empty at the end that the framing names. Raises CutError."""
        try:
            piece = await anext(self._pieces, b"")
        except httpx.TimeoutException:
            says = f"{silent(self._read_timeout_ms)} inside the body, after {self.size} bytes; {HOW_TO_WAIT_LONGER}"
            raise CutError(says) from None
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise CutError(f"{words_of(error)}, after {self.size} bytes") from None
        self.size += len(piece)
        return piece

    def abort(self) -> None:
        """As close does: httpx ends who waits for a piece with an error."""
        self.close()

    def close(self) -> None:
        """Nothing more is read."""
        self._closed(self)


class HttpxTransport:
    """One AsyncClient. Its limits are httpx's own (100 connections, 20 of them idle for 5 s) unless max_connections
    says how many there may be.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        most = settings.max_connections
        self._client = httpx.AsyncClient(
            headers=_HEADERS,
            limits=httpx.Limits(max_connections=most or 100, max_keepalive_connections=20),  # its own defaults
            timeout=httpx.Timeout(
                settings.read_timeout_ms / 1000, connect=settings.connect_timeout_ms / 1000, pool=POOL_TIMEOUT_S
            ),
            verify=_systems() if settings.tls is None else settings.tls,
            trust_env=False,
        )
        self._attempts: set[asyncio.Timeout] = set()
        self._endings: dict[Body, asyncio.Task[None]] = {}
        self._streams: set[Body] = set()
        self._quiet = asyncio.Event()
        self._closing = False

    async def close(self) -> None:
        """End every attempt and every connection."""
        self._closing = True
        for body in tuple(self._streams):
            body.abort()
        for attempt in self._attempts:
            attempt.reschedule(0)
        if self._attempts:
            self._quiet.clear()
            await self._quiet.wait()
        if self._endings:
            await asyncio.wait(self._endings.values())
        await self._client.aclose()

    async def send(self, url: str, request: Request) -> Reply | Body | Evidence:
        """One attempt, never more. A Body, unread, is what a stream was asked for and has begun with."""
        if self._closing:
            return Evidence(kind=Kind.UNSENT, says=f"{Kind.UNSENT}, to {url}: the forwarder is closed", url=url)
        attempt = asyncio.timeout(None)
        self._attempts.add(attempt)
        try:
            async with attempt:
                return await self._sent(url, request)
        except (httpx.HTTPError, TimeoutError) as error:
            kind = Kind.RESET if self._closing else kind_of_failure(error)
            return Evidence(kind=kind, says=f"{kind}, {url}: {self._detail(kind, error)}", url=url)
        finally:
            self._attempts.discard(attempt)
            if not self._attempts:
                self._quiet.set()

    async def _sent(self, url: str, request: Request) -> Reply | Body:
        stream = request.asked.stream
        accept = STREAM_TYPE if stream else JSON_TYPE
        asked = self._client.build_request(
            "POST",
            url + request.asked.api.path,
            content=request.body,
            headers={**request.headers, "Accept": accept},
        )
        response = await self._client.send(asked, stream=True)
        body = HttpxBody(url, response, self._settings.read_timeout_ms, self._ended)
        if stream and wrong_with_head(_reply(url, response, b"", cut=None), STREAM_TYPE) is None:
            self._streams.add(body)
            return body
        pieces: list[bytes] = []
        cut: str | None = None
        try:
            while piece := await body.piece():
                pieces.append(piece)
        except CutError as error:
            cut = str(error)
        finally:
            await response.aclose()
        return _reply(url, response, b"".join(pieces), cut=cut)

    def _ended(self, body: Body) -> None:
        """httpx can end an answer only in a coroutine."""
        self._streams.discard(body)
        if isinstance(body, HttpxBody) and not body.response.is_closed and body not in self._endings:
            self._endings[body] = task = asyncio.ensure_future(body.response.aclose())
            task.add_done_callback(lambda _: self._endings.pop(body))

    def _detail(self, kind: Kind, error: Exception) -> str:
        if self._closing:
            return "the forwarder was closed"
        match error:
            case httpx.PoolTimeout():
                return f"no connection of the pool was free within {POOL_TIMEOUT_S:g} s"
            case httpx.ConnectTimeout():
                return f"not within {self._settings.connect_timeout_ms} ms (the connect timeout)"
            case _ if kind is Kind.SILENCE:
                return f"{silent(self._settings.read_timeout_ms)}; {HOW_TO_WAIT_LONGER}"
            case _:
                return words_of(error)


@cache
def _systems() -> ssl.SSLContext:
    """The system's certificates, read once."""
    return ssl.create_default_context()


def kind_of_failure(error: Exception) -> Kind:
    """The kind of an attempt that failed before the head of an answer, by the class of its exception."""
    match error:
        case httpx.PoolTimeout() | httpx.UnsupportedProtocol():
            return Kind.UNSENT
        case httpx.ConnectTimeout():
            return Kind.CONNECT_TIMEOUT
        case httpx.ConnectError():
            return Kind.CONNECT
        case httpx.TimeoutException():
            return Kind.SILENCE
        case httpx.RemoteProtocolError() if "without sending a response" in str(error):
            return Kind.CLOSED
        case httpx.RemoteProtocolError():
            return Kind.GARBLED
        case _:
            return Kind.RESET


def _reply(url: str, response: httpx.Response, body: bytes, *, cut: str | None) -> Reply:
    headers = response.headers
    return Reply(
        url=url,
        status=response.status_code,
        body=body,
        content_type=headers.get("Content-Type", ""),
        content_encoding=headers.get("Content-Encoding", ""),
        retry_after=headers.get("Retry-After", ""),
        cut=cut,
    )
