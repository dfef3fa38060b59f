"""aiohttp on a loop of its own, driven from the outside."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import aiohttp

from suites.evidence.client import OnHead, Patience, installed
from suites.evidence.got import errno_in
from suites.evidence.trust import Trust

_TURNS = 3  # of the loop, in which it takes in what has arrived


@dataclass(frozen=True, slots=True)
class AiohttpSession:
    """One ClientSession and its loop."""

    runner: asyncio.Runner
    session: aiohttp.ClientSession
    url: str

    def request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        """Between two requests the loop of a real program runs: what has arrived meanwhile is noticed."""
        return self.runner.run(self._request(method, target, body, on_head))

    async def _request(self, method: str, target: str, body: bytes, on_head: OnHead) -> bytes:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        async with self.session.request(method, self.url + target, data=body or None) as response:
            on_head(response.status)
            return await response.read()


class AiohttpClient:
    """`session.post(...)`, then `response.read()`."""

    name = "aiohttp"
    package = "aiohttp"
    methods = ("POST", "GET")

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
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=patience.connect_s, sock_read=patience.read_s)
    connector = aiohttp.TCPConnector(ssl=trust.context)
    return aiohttp.ClientSession(connector=connector, headers={"Content-Type": "application/json"}, timeout=timeout)


async def _close(session: aiohttp.ClientSession) -> None:
    await session.close()
    await asyncio.sleep(0)  # transports let go of their sockets on the next turn
