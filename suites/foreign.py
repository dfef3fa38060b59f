"""Subjects that are processes of their own, as their subject files describe them."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fake_router import own_network
from fake_router.identity import IDENTITY
from faults.plan import PlannedOperation
from suites.asking import asking
from suites.endpoint import endpoint_at
from suites.history import Outcome
from suites.idleness import Idleness
from suites.leaving import Leave
from suites.placeholders import CA_FILE, fill_command, fill_file, meanings
from suites.processes import Process, ProcessError, ReservedPort, Supervisor
from suites.programs import environment, first_line_of, is_found
from suites.subject import SubjectError, SubjectSpec
from suites.subject_file import built_in_file
from suites.subject_reader import SubjectFile
from suites.way import Address, Upstreams

_STAYS = "a server that stays in the foreground and listens on {host}:{port} (with SO_REUSEADDR: the port is reserved)"
_ALONE = (
    "one that changes no user: in --own-network an ordinary user is the only one there is, and nginx, which gives up "
    "root, cannot start; run this as root, or without --own-network"
)
_LOG = "stderr"  # what an instance writes, in its folder
_LAST_WORDS_BYTES = 2_000
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05  # between two looks at whether an instance is ready


def built_in_subject(name: str, supervisor: Supervisor) -> "ForeignSubject":
    """The foreign subject of that name that comes with the suites. Raises SubjectFileError for an unknown one."""
    return ForeignSubject(built_in_file(name), supervisor)


class ForeignSubject:
    """A subject file that can be started: a Subject. Each instance has a folder, a port and a session of its own."""

    def __init__(self, file: SubjectFile, supervisor: Supervisor) -> None:
        self.file = file
        self.supervisor = supervisor
        self._spec = file.spec
        self._version_lock = asyncio.Lock()
        self._asked = not file.idle

    @property
    def spec(self) -> SubjectSpec:
        """What the file says; the version is known once an instance has been started."""
        return self._spec

    def missing(self) -> str | None:
        """Why it cannot run on this machine, and what to install; None when it can."""
        name = fill_command(self.file.command[0], _meanings(self.file, Path(), 0, ()))
        if is_found(name):
            return None
        install = f"install it: {self.file.install}" if self.file.install else "install it, or correct `command`"
        return f"{self.file.spec.facts.name}: no {name!r} on PATH; {install}"

    async def start(self, upstreams: Sequence[Address]) -> "ForeignInstance":
        """An instance that forwards to these addresses and is ready.

        Raises SubjectError when its program is missing, it ends, it is not ready within the time of its spec, or says
        nothing at the path that is to tell what is in flight.
        """
        if len(upstreams) != self.spec.upstreams:
            raise ValueError(f"{len(upstreams)} upstreams; expected {self.spec.upstreams} as its file says")
        if missing := self.missing():
            raise SubjectError(missing)
        await self.read_version()
        instance = ForeignInstance(self.file)
        try:
            await instance.launch(self.supervisor, upstreams)
            if not self._asked:
                await instance.idleness.require(self.spec.facts.name)
                self._asked = True
        except BaseException:
            await instance.stop()
            raise
        return instance

    async def read_version(self) -> None:
        """Ask it for its version, once; afterwards the spec knows it."""
        async with self._version_lock:
            if self.file.version and not self._spec.version:
                known = _meanings(self.file, Path(), 0, ())
                argv = [fill_command(word, known) for word in self.file.version]
                self._spec = replace(self._spec, version=await asyncio.to_thread(first_line_of, argv))


class ForeignInstance:
    """A foreign subject that runs: an Instance. Made by ForeignSubject.start."""

    def __init__(self, file: SubjectFile) -> None:
        self._file = file
        self._name = file.spec.facts.name
        self._port = ReservedPort()
        self._endpoint = endpoint_at(self.address, file)
        self._asking = asking(self._endpoint, file)
        self.idleness = Idleness(endpoint=self._endpoint, path=file.idle, within_ms=file.spec.read_timeout_ms)
        self.folder = Path(tempfile.mkdtemp(prefix="retryproof-"))
        self.folder.chmod(0o711)  # a subject started by root may give up its rights and must still find its files
        self.process: Process | None = None

    @property
    def address(self) -> Address:
        """Where it listens."""
        return ("127.0.0.1", self._port.number)

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""
        self._asking = self._asking.through(way_in)

    async def launch(self, supervisor: Supervisor, upstreams: Sequence[Address], more: Sequence[str] = ()) -> None:
        """Write its files, start it and wait until it is ready; again, where it has ended. more: further words of its
        command. Raises SubjectError.
        """
        known = _meanings(self._file, self.folder, self._port.number, upstreams)
        if self._file.spec.tls:
            (self.folder / CA_FILE).write_bytes(IDENTITY.ca_pem)
        for name, text in self._file.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill_file(text, known), "utf-8")
        argv = [fill_command(word, known) for word in (*self._file.command, *more)]
        try:
            self.process = await supervisor.start(
                argv, cwd=self.folder, env=environment(), log=self.folder / _LOG, folder=self.folder
            )
        except ProcessError as error:
            raise SubjectError(f"{self._name} did not start: {error} (its command: {argv!r})") from error
        await self._until_ready(self.process)

    async def _until_ready(self, process: Process) -> None:
        deadline_s = time.monotonic() + self._file.spec.start_ms / 1000
        pause_s = _FIRST_PAUSE_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            if how := process.died():
                expected = _ALONE if own_network.is_alone() else _STAYS
                raise SubjectError(f"{self._name} {how} before it was ready; expected {expected}. {self._last_words()}")
            if await self._endpoint.is_ready(self._file.ready, max(1, int(left_s * 1000))):
                return
            try:
                await asyncio.wait_for(process.ended.wait(), pause_s)
            except TimeoutError:
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise SubjectError(
            f"{self._name} was not ready within {self._file.spec.start_ms} ms; expected "
            f"{self._file.ready!r} to succeed on {self.address[0]}:{self.address[1]}; correct `ready`, `command` or "
            f"`files`, or raise `start_ms`. {self._last_words()}"
        )

    def _last_words(self) -> str:
        path = self.folder / _LOG
        text = path.read_bytes()[-_LAST_WORDS_BYTES:].decode(errors="replace").strip() if path.exists() else ""
        return f"The last that it wrote:\n{text}" if text else "It wrote nothing."

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
        return self.process.died() if self.process else None

    async def stop(self) -> None:
        """End its processes and remove its folder. Safe to call twice."""
        if self.process:
            await self.process.stop()
        self._port.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _meanings(file: SubjectFile, folder: Path, port: int, upstreams: Sequence[Address]) -> dict[str, str]:
    return meanings(
        dir_=folder,
        listen=("127.0.0.1", port),
        here=file.here,
        upstreams=upstreams,
        values=file.values,
        tls_values=file.tls,
        names=file.names,
        tls=Upstreams.of(upstreams).way.tls,
        max_connections=Upstreams.of(upstreams).way.max_connections,
        name_server=Upstreams.of(upstreams).name_server,
    )
