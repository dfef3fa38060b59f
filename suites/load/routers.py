"""Fake routers in processes of their own, and what is asked at their control ports."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from fake_router.service import Service, service_text
from suites.processes import Process, ReservedPort, Supervisor
from suites.programs import environment
from suites.subject import Address, SubjectError

_PAUSE_S = 0.02  # between two looks at whether it is ready: a process gives no event
_START_S = 30.0
_ASKED_S = 120.0  # a busy router may take long to answer its control port
_LAST_BYTES = 600


class Status(msgspec.Struct):
    """What a router says of itself."""

    busy: int
    entries: int
    held: int = 0
    in_service: int = 0
    queued: int = 0

    @property
    def waiting(self) -> int:
        """Operations that it has taken, and not answered."""
        return self.held + self.in_service + self.queued


class RouterProcess:
    """One router with some upstreams. Made, then `start`, and `stop` in any case."""

    def __init__(self, upstreams: int, folder: Path, supervisor: Supervisor, listen: tuple[Address, ...] = ()) -> None:
        self._supervisor = supervisor
        self._folder = folder
        self._held = [] if listen else [ReservedPort() for _ in range(upstreams)]
        self.addresses: list[Address] = list(listen) or [("127.0.0.1", port.number) for port in self._held]
        self._control = ReservedPort()
        self._session: aiohttp.ClientSession | None = None
        self.process: Process | None = None

    async def start(self, service: Service) -> None:
        """It listens. Raises SubjectError with its last words where it does not."""
        host = self.addresses[0][0]
        words = ["-m", "fake_router", "--host", host, "--control-port", str(self._control.number)]
        words += [word for _, port in self.addresses for word in ("--port", str(port))]
        words += ["--service", service_text(service)]
        self._folder.mkdir()
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_ASKED_S))
        argv = [sys.executable, *words]
        self.process = await self._supervisor.start(argv, cwd=self._folder, env=environment(), log=self._log)
        try:
            async with asyncio.timeout(_START_S):
                while not await self._is_ready():
                    if how := self.process.died():
                        raise SubjectError(f"a router {how} before it was ready: {self._last_words()}")
                    await asyncio.sleep(_PAUSE_S)
        except TimeoutError:
            raise SubjectError(f"a router was not ready within {_START_S:g} s: {self._last_words()}") from None

    async def status(self) -> Status:
        """How it is."""
        return msgspec.json.decode(await self._ask("GET", "/status"), type=Status)

    async def release(self) -> None:
        """What it holds is answered."""
        await self._ask("POST", "/release")

    async def arm(self, mix: Mapping[str, object], seed: int, read_timeout_ms: int) -> None:
        """Operations meet faults from now on."""
        await self._ask("POST", "/arm", {"mix": mix, "seed": seed, "read_timeout_ms": read_timeout_ms})

    async def heal(self) -> None:
        """None does any more."""
        await self._ask("POST", "/heal")

    async def text(self, path: str) -> bytes:
        """What it answers to a GET for that path."""
        return await self._ask("GET", path)

    async def stop(self) -> None:
        """End it. Safe to call twice."""
        if self._session is not None:
            await self._session.close()
        if self.process is not None:
            await self.process.stop()
        for port in (*self._held, self._control):
            port.close()

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    async def _is_ready(self) -> bool:
        try:
            await self._answered("GET", "/status", None)
        except aiohttp.ClientError:
            return False
        return True

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Raises SubjectError where it answers anything but 200, or nothing within _ASKED_S."""
        try:
            status, data = await self._answered(method, path, body)
        except (aiohttp.ClientError, TimeoutError) as error:
            how = (self.process.died() if self.process else None) or "lives"
            why = str(error) or f"nothing within {_ASKED_S:g} s"
            raise SubjectError(
                f"a router {how}, and does not answer {method} {path} ({why}); its last words: {self._last_words()}"
            ) from None
        if status != 200:
            raise SubjectError(f"a router answered {status} to {method} {path}: {data[:_LAST_BYTES]!r}")
        return data

    async def _answered(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        assert self._session is not None
        url = f"http://127.0.0.1:{self._control.number}{path}"
        async with self._session.request(method, url, json=body if method == "POST" else None) as response:
            return response.status, await response.read()

    def _last_words(self) -> str:
        text = self._log.read_bytes()[-_LAST_BYTES:] if self._log.exists() else b""
        return text.decode(errors="replace").strip() or "it wrote nothing"
