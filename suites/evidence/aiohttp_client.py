"""aiohttp on a loop of its own, driven from the outside."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import aiohttp

from suites.evidence.client import Ask, HangError, Need, OnHead, OnPiece, Patience, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

T = TypeVar("T")

HANG_S = 10.0  # twice the longest patience
TURNS = 3  # of the loop, in which it takes in what has arrived


@dataclass(frozen=True, slots=True)
class AiohttpSession:
    """One ClientSession and its loop."""

    runner: asyncio.Runner
    session: aiohttp.ClientSession
    url: str

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        """Between two requests the loop of a real program runs: what has arrived meanwhile is noticed."""
        return self.runner.run(bounded(self._request(ask, on_head)))

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        """`response.content.iter_any()`."""
        self.runner.run(bounded(self._stream(ask, on_head, on_piece)))

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        """On the same loop."""
        return hold_on_loop(self.runner, self._request(ask, lambda _: None), until)

    async def _request(self, ask: Ask, on_head: OnHead) -> bytes:
        async with await self._answered(ask) as response:
            on_head(response.status)
            return await response.read()

    async def _stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        async with await self._answered(ask) as response:
            on_head(response.status)
            async for piece in response.content.iter_any():
                on_piece(piece)

    async def _answered(self, ask: Ask) -> aiohttp.ClientResponse:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return await self.session.request(
            ask.method, self.url + ask.target, data=ask.body or None, expect100=ask.expect
        )


class AiohttpClient:
    """`session.post(...)`, then `response.read()`."""

    name = "aiohttp"
    package = "aiohttp"
    methods = ("POST", "GET")
    cannot: Mapping[Need, str] = MappingProxyType({})

    def version(self) -> str:
        """Of aiohttp."""
        return installed(self.name, self.package)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[AiohttpSession]:
        """On a fresh loop."""
        with asyncio.Runner() as runner:
            session = runner.run(_new_session(patience, trust))
            try:
                yield AiohttpSession(runner, session, url)
            finally:
                runner.run(_close(session))

    def reason_of(self, error: Exception) -> str:
        """The errno."""
        return errno_in(error)


async def _new_session(patience: Patience, trust: Trust) -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(
        total=None, connect=patience.pool_s, sock_connect=patience.connect_s, sock_read=patience.read_s
    )
    connector = aiohttp.TCPConnector(ssl=trust.context, limit=100 if patience.pool_s is None else 1)
    return aiohttp.ClientSession(connector=connector, headers={"Content-Type": "application/json"}, timeout=timeout)


async def bounded(request: Coroutine[Any, Any, T]) -> T:
    """It, for HANG_S: time-outs of its own come long before. Raises HangError."""
    try:
        async with asyncio.timeout(HANG_S) as ceiling:
            return await request
    except TimeoutError:
        if ceiling.expired():
            raise HangError(f"not over within {HANG_S:g} s") from None
        raise


def hold_on_loop(
    runner: asyncio.Runner, request: Coroutine[Any, Any, object], until: Callable[[], object]
) -> Callable[[], object]:
    """`hold` of a session that lives on that loop, which runs until `until` has returned."""
    held = runner.get_loop().create_task(request)
    runner.run(asyncio.to_thread(until))
    return lambda: runner.run(_ended(held))


async def _ended(held: asyncio.Task[object]) -> object:
    return await held


async def _close(session: aiohttp.ClientSession) -> None:
    await session.close()
    await asyncio.sleep(0)  # transports let go of their sockets on the next turn
