"""Subjects that are processes of their own, as their subject files describe them."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from fake_router import own_network
from faults.plan import PlannedOperation
from suites.asking import asking
from suites.endpoint import endpoint_at
from suites.history import Outcome
from suites.idleness import Idleness
from suites.installed import Installed, meanings_of
from suites.launch import Launch
from suites.leaving import Leave
from suites.processes import Process, ReservedPort, Supervisor
from suites.subject import SubjectError
from suites.subject_file import built_in_file
from suites.subject_text import SubjectFile
from suites.way import Address

_STAYS = "a server that stays in the foreground and listens on {host}:{port} (with SO_REUSEADDR: the port is reserved)"
_ALONE = (
    "one that changes no user: in --own-network an ordinary user is the only one there is, and nginx, which gives up "
    "root, cannot start; run this as root, or without --own-network"
)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05  # between two looks at whether an instance is ready


def built_in_subject(name: str, supervisor: Supervisor) -> "ForeignSubject":
    """The foreign subject of that name that comes with the suites. Raises SubjectFileError for an unknown one."""
    return ForeignSubject(built_in_file(name), supervisor)


class ForeignSubject(Installed):
    """A subject file that can be started: a Subject. Each instance has a folder, a port and a session of its own."""

    def __init__(self, file: SubjectFile, supervisor: Supervisor) -> None:
        super().__init__(file, supervisor)
        self._asked = not file.idle

    async def start(self, upstreams: Sequence[Address]) -> "ForeignInstance":
        """An instance that forwards to these addresses and is ready.

        Raises SubjectError when its program is missing, it ends, it is not ready within the time of its spec, or says
        nothing at the path that is to tell what is in flight.
        """
        await self.require(upstreams)
        instance = ForeignInstance(self.file, self.supervisor)
        try:
            await instance.launch(upstreams)
            if not self._asked:
                await instance.idleness.require(self.spec.facts.name)
                self._asked = True
        except BaseException:
            await instance.stop()
            raise
        return instance


class ForeignInstance:
    """A foreign subject that runs: an Instance. Made by ForeignSubject.start."""

    def __init__(self, file: SubjectFile, supervisor: Supervisor) -> None:
        self._file = file
        self._name = file.spec.facts.name
        self._port = ReservedPort()
        self._endpoint = endpoint_at(self.address, file)
        self._asking = asking(self._endpoint, file)
        self.idleness = Idleness(endpoint=self._endpoint, path=file.idle, within_ms=file.spec.read_timeout_ms)
        self._launch = Launch(file, supervisor)

    @property
    def folder(self) -> Path:
        """What it alone may write to."""
        return self._launch.folder

    @property
    def process(self) -> Process | None:
        """Once it was started."""
        return self._launch.process

    @property
    def address(self) -> Address:
        """Where it listens."""
        return ("127.0.0.1", self._port.number)

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""
        self._asking = self._asking.through(way_in)

    async def launch(self, upstreams: Sequence[Address], more: Sequence[str] = ()) -> None:
        """Write its files, start it and wait until it is ready; again, where it has ended. more: further words of its
        command. Raises SubjectError.
        """
        known = meanings_of(self._file, self.folder, self._port.number, upstreams)
        await self._until_ready(await self._launch.start(known, more))

    async def _until_ready(self, process: Process) -> None:
        deadline_s = time.monotonic() + self._file.spec.start_ms / 1000
        pause_s = _FIRST_PAUSE_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            if how := process.died():
                expected = _ALONE if own_network.is_alone() else _STAYS
                raise SubjectError(
                    f"{self._name} {how} before it was ready; expected {expected}. {self._launch.last_words()}"
                )
            left_ms = max(1, int(left_s * 1000))
            if await self._endpoint.is_ready(self._file.ready, left_ms, self._file.ready_says):
                return
            try:
                await asyncio.wait_for(process.ended.wait(), pause_s)
            except TimeoutError:
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise SubjectError(
            f"{self._name} was not ready within {self._file.spec.start_ms} ms; expected "
            f"{self._file.ready!r} to succeed on {self.address[0]}:{self.address[1]}; correct `ready`, `command` or "
            '`files`, or raise `start_ms` (many start at once, unless `isolation` is "shared"). '
            f"{self._launch.last_words()}"
        )

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation and wait for what its caller sees of it. Never raises for what the subject does."""
        return await self._asking.call(planned, number, ceiling_ms, leave)

    async def idle(self) -> bool | None:
        """What it says of itself where its file names the path to ask; else it cannot say."""
        if not self._file.idle:
            return None
        if self.died():
            return True  # nothing is in flight inside a process that is no more
        return await self.idleness.ask()

    def died(self) -> str | None:
        """How its process ended by itself; None while it lives."""
        return self._launch.died()

    async def stop(self) -> None:
        """End its processes and remove its folder. Safe to call twice."""
        await self._launch.stop()
        self._port.close()
