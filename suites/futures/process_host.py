"""A server of futures that is a process of ours: it can be ended in every way, and begun again on what it stored."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from suites.endpoint import Endpoint
from suites.foreign import ForeignInstance
from suites.futures.control import Control
from suites.futures.offer import Storage, Store, Terms
from suites.processes import Supervisor
from suites.subject import Address
from suites.subject_text import SubjectFile

END_S = 10.0  # how long a server may take over its end


class ProcessHost:
    """One instance of a subject file, through all its lives, on one port and in one folder. Made by `open`."""

    def __init__(
        self, file: SubjectFile, supervisor: Supervisor, upstreams: Sequence[Address], storage: Storage
    ) -> None:
        self._file = file
        self._offer = file.offer
        self._upstreams = upstreams
        self._storage = storage
        self._instance = ForeignInstance(file, supervisor)

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers."""
        return Endpoint(address=self._instance.address, headers=self._file.headers)

    @property
    def terms(self) -> Terms:
        """What its file says."""
        return self._offer.terms

    @property
    def control(self) -> Control | None:
        """Its test clock, where its file says how to give it one."""
        return Control(endpoint=self.endpoint) if self._offer.clock else None

    async def begin(self, now_ms: int) -> bool:
        """A process is started; True: on what the one before it has stored. Raises SubjectError."""
        if self._instance.process is not None:
            await self._instance.process.stop()  # it has ended; what it has started has too
        await self._instance.launch(self._upstreams, self._offer.words(self._storage, now_ms))
        return self._storage.store is Store.SQLITE and self._offer.store

    async def end(self, *, killed: bool) -> str:
        """How it has ended; empty where it had not within END_S, and was killed then."""
        process = self._instance.process
        assert process is not None
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(process.pid, signal.SIGKILL if killed else signal.SIGTERM)
        try:
            async with asyncio.timeout(END_S):
                await process.ended.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await process.ended.wait()
            return ""
        return process.died() or ""

    def kill(self) -> None:
        """SIGKILL, now; from any thread. Nobody waits for its end."""
        process = self._instance.process
        if process is not None and not process.ended.is_set():
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """No process and no folder is left; nobody waits for its end. Safe to call twice."""
        self.kill()
        await self._instance.stop()
