"""The process in which the SDK lives, as it is talked to from here."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count

import msgspec

from suites.ending import to_the_end
from suites.tinker_sdk.orders import AnyAnswer, AnyOrder, Asking, Close, NotOpened, Open, Opened, Returned

INSTALL = "pip install 'tinker>=0.25,<0.26'"
ADAPTER = "suites.tinker_sdk.adapter"
_END_S = 5.0
_LAST_BYTES = 2_000
_LONGEST_LINE = 1 << 24


class SdkError(Exception):
    """The SDK's process is gone, or its client could not be opened; the message ends with what it said."""


def missing() -> str | None:
    """Why the SDK cannot be the caller here, and what to install; None when it can."""
    if find_spec("tinker") is None:
        return f"the real Tinker SDK is not installed; {INSTALL}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkClient:
    """One ServiceClient with one sampling client, in a session of its own."""

    number: int
    pyqwest: bool


class SdkProcess:
    """Made by `open`; it belongs to one loop."""

    def __init__(self, process: asyncio.subprocess.Process, log: int) -> None:
        self._process = process
        self._log = log
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[AnyAnswer]] = {}
        self._gone = ""

    @staticmethod
    @asynccontextmanager
    async def open() -> AsyncIterator["SdkProcess"]:
        """A process that lives until this is left, and no longer than we do: it ends with its stdin."""
        with tempfile.TemporaryFile() as log:  # it has no name: nothing of it is left, however we end
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", ADAPTER),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=_environment(),
                limit=_LONGEST_LINE,
                start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
            )
            sdk = SdkProcess(process, log.fileno())
            listening = asyncio.create_task(sdk._listen())
            try:
                yield sdk
            finally:
                await to_the_end(sdk._end())
                await listening

    async def client(self, url: str, *, httpx: bool, headers: Mapping[str, str]) -> SdkClient:
        """A new client of that server. Raises SdkError where the SDK cannot open it."""
        number = next(self._numbers)
        answer = await self._send(number, Open(client=number, url=url, httpx=httpx, headers=dict(headers)))
        match answer:
            case Opened(pyqwest=pyqwest):
                return SdkClient(number=number, pyqwest=pyqwest)
            case NotOpened(error=error, says=says):
                raise SdkError(f"the SDK could not open a session at {url}: {error}: {says}")
            case _:
                raise SdkError(f"the SDK's process said {answer!r}; expected whether the client is open")

    def ask(self, order: Asking) -> "asyncio.Future[Returned]":
        """What comes of it. Raises SdkError, when it is awaited, where the process is gone before."""
        return self._send(order.call, order)  # type: ignore[return-value]  # under the number of a call nothing else comes

    def next_call(self) -> int:
        """A number that no call had before."""
        return next(self._numbers)

    def close(self, client: SdkClient) -> None:
        """It is used no more."""
        self._write(Close(client=client.number))

    def _send(self, number: int, order: AnyOrder) -> "asyncio.Future[AnyAnswer]":
        answer: asyncio.Future[AnyAnswer] = asyncio.get_running_loop().create_future()
        if self._gone:
            answer.set_exception(SdkError(self._gone))
        else:
            self._waiting[number] = answer
            self._write(order)
        return answer

    def _write(self, order: AnyOrder) -> None:
        assert self._process.stdin is not None
        if not self._gone:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        decode = msgspec.json.Decoder(AnyAnswer).decode
        while line := await self._process.stdout.readline():
            answer = decode(line)
            number = answer.client if isinstance(answer, Opened | NotOpened) else answer.call
            waiting = self._waiting.pop(number)
            if not waiting.done():
                waiting.set_result(answer)
        code = await self._process.wait()
        self._gone = f"the SDK's process has ended with code {code}. {self._last_words()}"
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(SdkError(self._gone))
        self._waiting.clear()

    async def _end(self) -> None:
        assert self._process.stdin is not None
        for waiting in self._waiting.values():
            waiting.cancel()
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _last_words(self) -> str:
        size = os.fstat(self._log).st_size
        text = os.pread(self._log, _LAST_BYTES, max(0, size - _LAST_BYTES)).decode(errors="replace").strip()
        return f"The last that it wrote:\n{text}" if text else "It wrote nothing."


def _environment() -> dict[str, str]:
    """Ours, without what would lead the SDK elsewhere: its own settings, and proxies that are not for the loopback."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TINKER_") and not name.lower().endswith("_proxy")
    }
    return {**kept, "TINKER_TELEMETRY": "0"}
