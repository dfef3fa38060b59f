"""A Toxiproxy server for as long as it is needed: one of our own on a free port of loopback, or one that stands."""

import asyncio
import itertools
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import assert_never
from uuid import uuid4

from fake_router.bound import bound
from suites.ending import to_the_end
from suites.processes import Process, ProcessError, ReservedPort, Supervisor
from suites.toxiproxy.answers import COUNTING, Proxy, address_of
from suites.toxiproxy.client import ToxiproxyClient
from suites.toxiproxy.errors import (
    MissingToxiproxyError,
    NoAnswerError,
    NotToxiproxyError,
    RefusedError,
    ToxiproxyError,
    UnknownNameError,
    UnreachableError,
)
from suites.toxiproxy.last_words import Death, last_words
from suites.toxiproxy.source import URL_VARIABLE, Image, Missing, Program, Source, Standing, find_source
from suites.way import Address

HOST = "127.0.0.1"
START_S = 10.0
PROOF_S = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05  # between two looks at whether it is ready
_LOG_LEVEL = "info"  # it says "trace" by itself: eight lines for each connection
_CANNOT_LISTEN = "Server finished with error"  # it goes on running without its API


class ToxiproxyServer:
    """A server that answers, and the proxies that were made through it; they are gone at the end, and so is a server
    of our own. `log`: the file that one of our own writes, for as long as it lives.
    """

    def __init__(self, *, source: Source, client: ToxiproxyClient, version: str, log: Path | None) -> None:
        self.source = source
        self.client = client
        self.version = version
        self.log = log
        self._prefix = f"retryproof-{uuid4().hex[:12]}-"
        self._numbers = itertools.count(1)
        self._proxies: dict[str, ReservedPort | socket.socket] = {}
        self._left = ""
        self.made = 0  # how many proxies it ever had of us

    @staticmethod
    @asynccontextmanager
    async def open(supervisor: Supervisor, source: Source | None = None) -> AsyncIterator["ToxiproxyServer"]:
        """The server of that source, or the first that there is, until this is left.

        Raises MissingToxiproxyError where there is none, and ToxiproxyError where it cannot be used.
        """
        found = find_source() if source is None else source
        match found:
            case Missing():
                raise MissingToxiproxyError(found.says)
            case Standing():
                client, version = await _standing(found)
                server = ToxiproxyServer(source=found, client=client, version=version, log=None)
                async with server._until_left():
                    yield server
            case Program() | Image():
                async with _started(found, supervisor) as server, server._until_left():
                    yield server
            case _ as never:
                assert_never(never)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["ToxiproxyServer"]:
        """Itself."""
        yield self

    async def add_proxy(self, upstream: Address, listen: Address | None = None) -> Proxy:
        """A proxy of ours to that address. Where it listens stays reserved for it also while it is down. Raises
        ListenError where nobody can listen.
        """
        port = ReservedPort() if listen is None else bound(*listen)
        there = (HOST, port.number) if isinstance(port, ReservedPort) else listen
        name = f"{self._prefix}{next(self._numbers)}"
        self.made += 1
        # Who is cancelled meanwhile waits for the answer: what the server makes afterwards would be nobody's.
        creating = asyncio.ensure_future(self.client.create(name, upstream, listen=there or (HOST, 0)))
        creating.add_done_callback(lambda task: task.cancelled() or task.exception())  # its error is no news then
        try:
            proxy = await asyncio.shield(creating)
        except asyncio.CancelledError:
            self._proxies[name] = port
            await asyncio.wait((creating,))  # the client gives up by itself
            raise
        except RefusedError:
            port.close()
            raise
        except BaseException:
            self._proxies[name] = port  # it may have been made: see what is left at the end
            raise
        self._proxies[name] = port
        return proxy

    async def remove_proxy(self, proxy: Proxy) -> None:
        """It is gone, with its connections."""
        await self.client.delete(proxy)
        self._proxies.pop(proxy.name).close()

    @asynccontextmanager
    async def _until_left(self) -> AsyncIterator[None]:
        try:
            await self._prove()
            yield
        except BaseException as error:
            await to_the_end(self._leave())
            if self._left:
                error.add_note(self._left)
            raise
        await to_the_end(self._leave())
        if self._left:
            raise ToxiproxyError(f"Toxiproxy ({self.source}): {self._left}")

    async def _leave(self) -> None:
        if isinstance(self.source, Standing):  # one of our own is ended instead
            gone = await asyncio.gather(*map(self._forget, self._proxies))
            if left := gone.count(False):
                self._left = f"{left} of our proxies may be left there: {self._prefix}*"
        for port in self._proxies.values():
            port.close()
        self._proxies.clear()

    async def _forget(self, name: str) -> bool:
        """Whether it is gone, as one that is not known is."""
        try:
            await self.client.delete(Proxy(name=name, listen=(HOST, 0), upstream=(HOST, 0), enabled=True))
        except UnknownNameError:
            return True
        except ToxiproxyError:
            return False
        return True

    async def _prove(self) -> None:
        """Bytes come through it, from this machine's loopback to this machine's loopback. Raises ToxiproxyError."""
        loop = asyncio.get_running_loop()
        with socket.create_server((HOST, 0)) as listener, socket.socket() as near:
            listener.setblocking(False)
            near.setblocking(False)
            proxy = await self.add_proxy(listener.getsockname())
            try:
                async with asyncio.timeout(PROOF_S):
                    await loop.sock_connect(near, proxy.listen)
                    far, _ = await loop.sock_accept(listener)
                    far.close()
            except (OSError, TimeoutError):
                raise NotToxiproxyError(
                    f"Toxiproxy ({self.source}) was asked to pass {HOST}:{proxy.listen[1]} on to this process, and no "
                    "connection came through; expected it in the same network namespace (with Docker: --network host)"
                ) from None
            await self.remove_proxy(proxy)


async def _standing(source: Standing) -> tuple[ToxiproxyClient, str]:
    try:
        client = ToxiproxyClient(address_of(source.url))
        return client, await client.version()
    except (UnreachableError, NoAnswerError) as error:
        raise type(error)(
            f"{error}; expected the one that {URL_VARIABLE} names: start it, or unset {URL_VARIABLE}"
        ) from None
    except ToxiproxyError as error:
        raise type(error)(f"{URL_VARIABLE}: {error}") from None


@asynccontextmanager
async def _started(source: Program | Image, supervisor: Supervisor) -> AsyncIterator[ToxiproxyServer]:
    folder = Path(tempfile.mkdtemp(prefix="retryproof-toxiproxy-"))
    log, port = folder / "log", ReservedPort()
    process: Process | None = None
    try:
        process = await supervisor.start(
            _command(source, port.number),
            cwd=folder,
            env={**os.environ, "LOG_LEVEL": _LOG_LEVEL},
            log=log,
            folder=folder,
        )
        address = (HOST, port.number)
        version = await _version_when_ready(source, ToxiproxyClient(address), process, log)
        client = ToxiproxyClient(address, why_gone=Death(process, log))
        yield ToxiproxyServer(source=source, client=client, version=version, log=log)
    except ProcessError as error:
        raise ToxiproxyError(f"Toxiproxy ({source}) did not start: {error}") from None
    finally:
        if process is not None:
            await to_the_end(process.stop())
        port.close()
        shutil.rmtree(folder, ignore_errors=True)


def _command(source: Program | Image, port: int) -> list[str]:
    where = ["-host", HOST, "-port", str(port), COUNTING]
    match source:
        case Program():
            return [str(source.path), *where]
        case Image():
            return ["docker", "run", "--rm", "--network", "host", source.name, *where]
        case _ as never:
            assert_never(never)


async def _version_when_ready(source: Source, client: ToxiproxyClient, process: Process, log: Path) -> str:
    deadline_s, pause_s = time.monotonic() + START_S, _FIRST_PAUSE_S
    how = f"did not answer within {START_S:.0f} s"
    while time.monotonic() < deadline_s and not process.died():
        try:
            return await client.version()
        except UnreachableError:
            if _CANNOT_LISTEN in last_words(log):
                how = "could not listen"
                break
        with suppress(TimeoutError):
            await asyncio.wait_for(process.ended.wait(), pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise ToxiproxyError(f"Toxiproxy ({source}) {process.died() or how} before it was ready. {last_words(log)}")
