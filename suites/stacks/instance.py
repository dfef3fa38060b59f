"""One compose project that runs: an Instance."""

import asyncio
import shlex
import shutil
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fake_router.identity import IDENTITY
from faults.disturbance import Disturbing, Whose
from faults.plan import PlannedOperation
from suites.asking import asking
from suites.endpoint import endpoint_at
from suites.history import Arrival, Outcome
from suites.idleness import Idleness
from suites.installed import meanings_of
from suites.leaving import Leave
from suites.placeholders import CA_FILE, fill_command, fill_file
from suites.processes import ReservedPort, Supervisor
from suites.side_thread import on_a_thread
from suites.stacks.compose_file import FOLDER, OPTIONS, StackFile
from suites.stacks.composing import Composer
from suites.stacks.errors import StackError
from suites.stacks.logs import keep, last_words
from suites.stacks.networked import LISTENING, host_of, networked, ports_there
from suites.stacks.relays import Relays
from suites.stacks.state import State
from suites.stacks.strikes import Strikes
from suites.stacks.variables import variables
from suites.way import Address, Upstreams

if TYPE_CHECKING:
    from suites.stacks.container import Contained
    from suites.stacks.engine import Engine

HOST = "127.0.0.1"
_LOG = "compose.log"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.005, 0.1  # between two looks at whether an instance is ready


class StackInstance:
    """Made by StackSubject.start. project: its name. Raises StackError where its network has no room for it."""

    def __init__(self, stack: StackFile, engine: "Engine", project: str) -> None:
        self.project = project
        self._stack, self._file = stack, stack.file
        self._engine = engine
        self._addresses = _addresses(stack)
        self._reserved = {} if stack.network is not None else {name: ReservedPort() for name in stack.ports}
        self._ports = {name: port.number for name, port in self._reserved.items()} or ports_there(stack.ports)
        self._endpoint = endpoint_at(self.address, self._file)
        self._asking = asking(self._endpoint, self._file)
        self.idleness = Idleness(
            endpoint=self._endpoint, path=self._file.idle, within_ms=self._file.spec.read_timeout_ms
        )
        self._folder = Path(tempfile.mkdtemp(prefix="retryproof-"))
        self._strikes = Strikes()
        self._relays = Relays(engine, project, stack.network)
        self._way_in: Address | None = None
        self._died: str | None = None

    @property
    def address(self) -> Address:
        """Where its forwarder listens."""
        host = self._addresses.get(self._stack.labelled.forwarder, HOST)
        return (host, self._ports["RETRYPROOF_PORT"])

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""
        self._way_in = way_in
        self._call_there()

    def _call_there(self) -> None:
        """As callers of whom it knows nothing yet."""
        fresh = asking(self._endpoint, self._file)
        self._asking = fresh if self._way_in is None else fresh.through(self._way_in)

    async def launch(
        self, supervisor: Supervisor, composer: Composer, upstreams: Sequence[Address], options: Sequence[str] = ()
    ) -> None:
        """Write its files, bring its project up and wait until all of it is healthy. Raises StackError."""
        deadline_s = time.monotonic() + self._file.spec.start_ms / 1000
        if Upstreams.of(upstreams).way.relayed:
            upstreams = await self._relays.begin(Upstreams.of(upstreams), deadline_s)
            self._strikes.containers[Whose.WORKER] = self._relays.containers
        mounted = self._folder / "files"
        mounted.mkdir()
        mounted.chmod(0o777)  # a user of its containers, whoever that is, writes into it; what is above lets nobody in
        self._write(mounted, upstreams)
        words = composer.words(
            self._compose_file(), self.project, "up", "-d", "--no-build", folder=self._stack.path.parent
        )
        await composer.run(supervisor, words, log=self._folder / _LOG, env=self._told(mounted, upstreams, options))
        for service, role in self._stack.labelled.roles.items():
            container = await on_a_thread(partial(self._engine.container, self.project, service))
            self._strikes.containers[Whose(role)] = [container]
        await self._until_ready(deadline_s)
        await self._until_healthy(deadline_s)
        if self._file.idle:
            await self.idleness.require(self._file.spec.facts.name)

    def _compose_file(self) -> Path:
        """As it is on the host's network; one of our own for another."""
        stack = self._stack
        if stack.network is None:
            return stack.path
        path = self._folder / "compose.json"
        path.write_text(networked(stack.compose, stack.network, self._addresses, self.project), "utf-8")
        return path

    def _told(self, mounted: Path, upstreams: Sequence[Address], options: Sequence[str]) -> dict[str, str]:
        """What its compose file may mention."""
        own = self._stack.network is not None
        hosts = {name: host_of(service, self.project) if own else HOST for name, service in self._stack.hosts.items()}
        known = meanings_of(self._file, Path(FOLDER), self.address[1], upstreams, self._listening)
        words = shlex.join(fill_command(word, known) for word in options)
        return {**variables(upstreams, self._ports, mounted, self._listening, hosts), OPTIONS: words}

    @property
    def _listening(self) -> str:
        """Where what runs in its containers has to listen."""
        return HOST if self._stack.network is None else LISTENING

    def _write(self, folder: Path, upstreams: Sequence[Address]) -> None:
        known = meanings_of(self._file, Path(FOLDER), self.address[1], upstreams, self._listening)
        if self._file.spec.tls:
            (folder / CA_FILE).write_bytes(IDENTITY.ca_pem)
        for name, text in self._file.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill_file(text, known), "utf-8")

    async def _until_ready(self, deadline_s: float) -> None:
        """The forwarder is ready."""
        name, pause_s = self._file.spec.facts.name, _FIRST_PAUSE_S
        while not await self._endpoint.is_ready(self._file.ready, self._left_ms(deadline_s)):
            if (how := await self._ended()) is not None:
                raise StackError(f"{name}: its forwarder {how} before it was ready; expected that it stays")
            if time.monotonic() > deadline_s:
                raise StackError(
                    f"{name} was not ready within {self._file.spec.start_ms} ms; expected {self._file.ready!r} to "
                    f"succeed on {self.address[0]}:{self.address[1]} (RETRYPROOF_PORT); correct the compose file, "
                    "retryproof.ready, or raise retryproof.start_ms"
                )
            await asyncio.sleep(pause_s)  # another's readiness gives no event
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _left_ms(self, deadline_s: float) -> int:
        return max(1, int((deadline_s - time.monotonic()) * 1000))

    async def _ended(self) -> str | None:
        """How its forwarder's container has ended; None while it runs."""
        if self._strikes.forwarder is None:
            return None
        state = await on_a_thread(self._strikes.forwarder.state)
        return None if state.running else state.in_words()

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation and wait for what its caller sees of it. Never raises for what the subject does, and
        StackError where the engine fails.
        """
        outcome = await self._asking.call(planned, number, ceiling_ms, leave)
        if outcome.arrival is Arrival.NOTHING and not self._strikes.ends_forwarder:
            how = await self._ended()
            self._died = None if how is None else f"its container {how}"
        return outcome

    async def idle(self) -> bool | None:
        """What it says of itself where its labels name the path to ask; else it cannot say."""
        if not self._file.idle:
            return None
        return self._died is not None or await self.idleness.ask()

    async def in_flight(self) -> int | None:
        """How many it says are in flight; None where it says no number."""
        return await self.idleness.in_flight()

    async def end(self, *, killed: bool, within_s: float) -> State:
        """Its forwarder's container has ended: by SIGKILL, or by SIGTERM, and by SIGKILL where that took longer."""
        forwarder = self._called
        return await on_a_thread(lambda: forwarder.end(killed=killed, within_s=within_s))

    async def begin_again(self) -> None:
        """Its forwarder's container runs again, and is ready."""
        await on_a_thread(self._called.begin)
        await self._until_ready(time.monotonic() + self._file.spec.start_ms / 1000)

    async def disturb(self, how: Disturbing, whose: Whose = Whose.ROUTER) -> int:
        """Do that to the container of its router, of its forwarder, or of each worker. Since when it is so, at the
        latest (ns).
        """
        return await self._strikes.begin(how, whose)

    async def disturbed(self, how: Disturbing) -> bool:
        """The engine says that it was done, and is so."""
        return await self._strikes.lasts(how)

    async def calm(self) -> None:
        """The container is as it was, and all are healthy."""
        deadline_s = time.monotonic() + self._file.spec.start_ms / 1000
        await self._strikes.end()
        if self._strikes.ends_forwarder:
            await self._until_ready(deadline_s)
            self._call_there()  # it may know nothing of what it was asked before
        await self._relays.until_listening(deadline_s)
        await self._until_healthy(deadline_s)
        self._strikes.over()

    async def _until_healthy(self, deadline_s: float) -> None:
        """All others that have a health check pass it."""
        within_s, but = self._left_ms(deadline_s) / 1000, self._stack.labelled.forwarder
        await on_a_thread(lambda: self._engine.require_healthy(self.project, within_s, but=but))

    @property
    def _called(self) -> "Contained":
        assert self._strikes.forwarder is not None, "it was launched"
        return self._strikes.forwarder

    def died(self) -> str | None:
        """How its container had ended at the last call; None while it runs."""
        return self._died

    async def last_words(self, folder: Path | None) -> str:
        """What its containers wrote, for a message; all of it goes to a file a service. Raises StackError."""
        logs = await on_a_thread(lambda: self._engine.logs(self.project))
        if folder is not None:
            keep(logs, folder)
        return last_words(logs, folder)

    async def stop(self) -> None:
        """Nothing of its project is there any more. Safe to call twice. Raises StackError where the engine fails."""
        try:
            await on_a_thread(lambda: self._engine.remove(self.project))
        finally:
            for port in self._reserved.values():
                port.close()
            self._relays.give_back()
            if self._stack.network is not None:
                self._stack.network.give_back(self._addresses.values())
                self._addresses = {}
            shutil.rmtree(self._folder, ignore_errors=True)


def _addresses(stack: StackFile) -> dict[str, str]:
    """Of each of its services, on a network of ours."""
    if stack.network is None:
        return {}
    names = [name for name, service in stack.compose["services"].items() if not service.get("profiles")]
    return dict(zip(names, stack.network.take(len(names)), strict=True))
