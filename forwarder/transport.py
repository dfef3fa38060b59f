"""One attempt over aiohttp: a request in; a reply, or the evidence of how it failed, out.

Whether any byte of the request can have been written is a fact here, not a guess from an exception's class: the pool
tells when it hands a connection, new or reused, to the request. (aiohttp's tracing tells too, and costs more.)
"""

import asyncio
import io
from collections.abc import Callable
from typing import Any

import aiohttp
import yarl

from forwarder.body import HOW_TO_WAIT_LONGER, AiohttpBody, Body, CutError, silent, words_of
from forwarder.connector import CleanConnector
from forwarder.evidence import Evidence, Kind
from forwarder.failure import kind_of_failure
from forwarder.own_socket import own_socket
from forwarder.progress import Bounds, Progress
from forwarder.reply import Reply
from forwarder.request import Request
from forwarder.resolver import BoundedResolver
from forwarder.settings import Settings
from forwarder.validate import JSON_TYPE, STREAM_TYPE, wrong_with_head

_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity", "Accept": JSON_TYPE}
_READ_BUFFER_BYTES = 256 * 1024
_RAW_BODY_BYTES = 1024 * 1024  # aiohttp warns of larger bodies that are given to it as bytes
_ERROR_BODY_BYTES = 1024 * 1024  # of an answer that is no result, more is of no use


def _session(settings: Settings, handed_out: Callable[[bool], None]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=CleanConnector(
            connect_timeout_s=settings.connect_timeout_ms / 1000,
            handed_out=handed_out,
            limit=settings.max_connections,
            keepalive_timeout=settings.keep_alive_ms / 1000,
            happy_eyeballs_delay=None,
            resolver=BoundedResolver(settings.nameservers, within_ms=settings.connect_timeout_ms),
            use_dns_cache=not settings.nameservers,  # its 10 s heed no TTL (RFC 1035 s3.2.1: 0 is not cached)
            ssl=True if settings.tls is None else settings.tls,
            socket_factory=own_socket,
        ),
        # No `connect` here: that timer runs while a request waits for a free connection, which is no failure.
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=settings.connect_timeout_ms / 1000, sock_read=settings.read_timeout_ms / 1000
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=_HEADERS,
        auto_decompress=False,
        trust_env=False,
        read_bufsize=_READ_BUFFER_BYTES,
    )


class Transport:
    """One shared session with one pool. Made and closed on the loop that it serves."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = _session(settings, self._handed_out)
        self._bounds = Bounds(2 * settings.read_timeout_ms / 1000, asyncio.get_running_loop())
        self._sending: dict[asyncio.Task[Any] | None, Progress] = {}  # a task makes one attempt at a time
        self._streams: set[Body] = set()
        self._closing = False
        self._quiet = asyncio.Event()

    async def close(self) -> None:
        """End every attempt and every connection. What was in flight fails with the evidence that it has."""
        self._closing = True
        for progress in self._sending.values():
            progress.abort()
        for body in tuple(self._streams):
            body.abort()
        if self._sending:
            self._quiet.clear()
            await self._quiet.wait()
        self._bounds.close()
        await self._session.close()
        await asyncio.sleep(0)  # transports that were closed just now let go of their sockets on the next turn

    async def send(self, url: str, request: Request) -> Reply | Body | Evidence:
        """One attempt, never more: aiohttp sends no POST again by itself, and redirects are not followed.

        A Body, unread, is what a stream was asked for and has begun with; whoever gets it closes it.
        """
        if self._closing:
            return Evidence(kind=Kind.UNSENT, says=f"{Kind.UNSENT}, to {url}: the forwarder is closed", url=url)
        response: aiohttp.ClientResponse | None = None
        deadline = asyncio.timeout(None)
        progress = Progress(deadline, self._bounds)
        task = asyncio.current_task()
        got: Reply | Body | None = None
        try:
            async with deadline:
                self._sending[task] = progress
                response = await self._post(url, request)
                progress.got_head()
                got = await self._got(url, response, stream=request.asked.stream)
                return got
        except (aiohttp.ClientError, OSError) as error:  # OSError: TimeoutError is one
            if response is not None:
                return _reply(url, response, b"", cut="the forwarder was closed")
            return self._evidence(url, progress, error)
        finally:
            if response is not None and response.connection is not None and not isinstance(got, Body):
                response.close()  # its body or the request's was left unfinished: such a connection is not reused
            progress.got_head()
            self._sending.pop(task, None)
            if not self._sending:
                self._quiet.set()

    def _handed_out(self, reused: bool) -> None:
        self._sending[asyncio.current_task()].hand_over(reused=reused)

    async def _post(self, url: str, request: Request) -> aiohttp.ClientResponse:
        body = request.body
        return await self._session.post(
            url + request.asked.api.path,
            data=body if len(body) <= _RAW_BODY_BYTES else io.BytesIO(body),
            headers=_beside_the_sessions(request),
            allow_redirects=False,
            expect100=request.expect,
        )

    async def _got(self, url: str, response: aiohttp.ClientResponse, *, stream: bool) -> Reply | Body:
        """The head has been read, so there is an answer, whatever happens now."""
        body = AiohttpBody(url, response, self._settings.read_timeout_ms, self._streams.discard)
        if stream and wrong_with_head(_reply(url, response, b"", cut=None), STREAM_TYPE) is None:
            self._streams.add(body)
            return body
        ok = 200 <= response.status <= 299
        limit = self._settings.max_response_bytes if ok and not stream else _ERROR_BODY_BYTES
        pieces: list[bytes] = []
        cut: str | None = None
        try:
            while piece := await body.piece():
                pieces.append(piece)
                if body.size > limit:
                    cut = f"more than {limit} bytes" + ("; raise Settings(max_response_bytes=...)" if ok else "")
                    break
        except CutError as error:
            cut = str(error)
        return _reply(url, response, b"".join(pieces), cut=cut)

    def _evidence(self, url: str, progress: Progress, error: Exception) -> Evidence:
        kind = kind_of_failure(error, handed_over=progress.handed_over)
        if not progress.handed_over:
            self._forget_address(url)
        if self._closing:
            kind = Kind.RESET if progress.handed_over else Kind.UNSENT
            error = ConnectionAbortedError("the forwarder was closed")
        match kind:
            case Kind.CONNECT_TIMEOUT:
                detail = f"not within {self._settings.connect_timeout_ms} ms (the connect timeout)"
            case Kind.SILENCE if isinstance(error, aiohttp.ClientError):
                detail = f"{silent(self._settings.read_timeout_ms)} after the request was written; {HOW_TO_WAIT_LONGER}"
            case Kind.SILENCE:
                twice_ms = 2 * self._settings.read_timeout_ms
                detail = f"not all of it written, or nothing came, for {twice_ms} ms (twice the read timeout)"
                detail += f"; {HOW_TO_WAIT_LONGER}"
            case _:
                detail = words_of(error)
        reused = " on a reused connection" if progress.reused else ""
        return Evidence(kind=kind, says=f"{kind}{reused}, {url}: {detail}", url=url)

    def _forget_address(self, url: str) -> None:
        """The name may lead elsewhere by now: the next attempt asks again, and does not dial what did not answer."""
        parsed = yarl.URL(url)
        connector = self._session.connector
        if isinstance(connector, aiohttp.TCPConnector) and parsed.host is not None and parsed.port is not None:
            connector.clear_dns_cache(parsed.host, parsed.port)


def _beside_the_sessions(request: Request) -> dict[str, str] | None:
    """Headers of this request alone; mostly none, since to merge some costs more than to send them."""
    stream = request.asked.stream
    return {**request.headers, "Accept": STREAM_TYPE if stream else JSON_TYPE} if stream or request.headers else None


def _reply(url: str, response: aiohttp.ClientResponse, body: bytes, *, cut: str | None) -> Reply:
    headers = response.headers
    return Reply(
        url=url,
        status=response.status,
        body=body,
        content_type=headers.get("Content-Type", ""),
        content_encoding=headers.get("Content-Encoding", ""),
        retry_after=headers.get("Retry-After", ""),
        cut=cut,
    )
