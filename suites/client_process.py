"""A client as a subject: a process that reads operations on stdin and writes outcomes to stdout, in JSON lines."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count

from faults.plan import PlannedOperation
from suites.body_template import filled
from suites.client_lines import READY, SHOWN_BYTES, Asked, LineError, Said, line_of, outcome_in, said_in
from suites.fifo import Fifos
from suites.history import Arrival, Kind, Outcome
from suites.installed import Installed, meanings_of
from suites.launch import Launch
from suites.leaving import Leave
from suites.sent import sent_body
from suites.subject import SubjectError
from suites.subject_text import SubjectFile
from suites.way import Address
from suites.workload import completion_request

_END_S = 2.0  # how long a process may live that has closed its stdout


class ClientSubject(Installed):
    """A subject file of a client: a Subject. Each instance is a process of its own."""

    async def start(self, upstreams: Sequence[Address]) -> "ClientInstance":
        """A client of these addresses that is ready. Raises SubjectError."""
        await self.require(upstreams)
        launch = Launch(self.file, self.supervisor)
        instance = ClientInstance(self.file, launch)
        try:
            await instance.launch(meanings_of(self.file, launch.folder, 0, upstreams))
        except BaseException:
            await instance.stop()
            raise
        return instance


class ClientInstance:
    """A client that runs: an Instance. Each operation has an id of its own, so that many are in flight at once."""

    def __init__(self, file: SubjectFile, launch: Launch) -> None:
        self._file = file
        self._launch = launch
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Said]] = {}
        self._first = asyncio.Event()  # it is ready, or will never be
        self._gone: str | None = None
        self._stopping = False
        self._broken: SubjectError | None = None
        self._ending: asyncio.Task[None] | None = None
        self._fifos = Fifos(launch.folder, self._on_line, self._on_end)

    async def launch(self, known: Mapping[str, str]) -> None:
        """Start it and wait for its first line. Raises SubjectError."""
        await self._launch.start(known, stdin=self._fifos.stdin, stdout=self._fifos.stdout)
        self._fifos.begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._file.spec.start_ms / 1000):
                await self._first.wait()
        if self._broken:
            raise self._broken
        if self._gone or not self._first.is_set():
            how = self._gone or f"was not ready within {self._file.spec.start_ms} ms"
            raise SubjectError(
                f"{self._file.spec.facts.name} {how}; expected {READY.decode()} as the first line on its stdout, and "
                f"outcomes from then on. {self._launch.last_words()}"
            )

    def _on_line(self, line: bytes) -> None:
        if self._broken:
            return
        try:
            if self._first.is_set():
                self._hear(said_in(line))
            elif line.replace(b" ", b"").strip() == READY.replace(b" ", b""):
                self._first.set()
            else:
                shown = line[:SHOWN_BYTES].decode(errors="replace")
                raise LineError(f"{shown!r} as its first line; expected {READY.decode()}")
        except LineError as error:
            self._broken = SubjectError(f"the adapter of {self._file.spec.facts.name} wrote {error}")
            self._tell_all("has written what is no outcome")

    def _hear(self, said: Said) -> None:
        if said.id not in self._waiting:
            raise LineError(f"an outcome of operation {said.id!r}; expected one of {sorted(self._waiting)}")
        waiting = self._waiting.pop(said.id)
        if not waiting.done():
            waiting.set_result(said)

    def _on_end(self) -> None:
        self._ending = asyncio.ensure_future(self._end_of_it())

    async def _end_of_it(self) -> None:
        """Nothing comes from it any more: whoever waits learns how it ended."""
        process = self._launch.process
        assert process is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(process.ended.wait(), _END_S)
        self._tell_all(process.died() or "has closed its stdout")

    def _tell_all(self, gone: str) -> None:
        self._gone = gone
        self._first.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._broken or EOFError(gone))
        self._waiting.clear()

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation. Never raises for what the client does; SubjectError where its adapter writes no outcome."""
        if leave is not None:
            raise ValueError(f"a caller of {self._file.spec.facts.name} that leaves; expected one that stays")
        began_ns, form = time.monotonic_ns(), planned.form
        body = self._body(planned, number)
        asked = Asked(
            id=next(self._ids),
            path=form.api.path,
            headers={"Content-Type": "application/json", **self._file.headers},
            body=body.decode(),
            stream=form.stream,
        )
        try:
            async with asyncio.timeout(ceiling_ms / 1000):
                said = await self._ask(asked)
            outcome = outcome_in(said, number, form, self._file.not_executed, began_ns)
        except TimeoutError:
            outcome = _without(Arrival.HUNG, f"no outcome within {ceiling_ms} ms", planned, number, began_ns)
        except EOFError as error:
            outcome = _without(Arrival.NOTHING, f"its process {error}", planned, number, began_ns)
        return replace(outcome, sent=sent_body(body))

    def _body(self, planned: PlannedOperation, number: int) -> bytes:
        if self._file.body:
            return filled(self._file.body, number)
        return json.dumps(completion_request(number, planned.form, planned.body_bytes)).encode()

    async def _ask(self, asked: Asked) -> Said:
        if self._broken:
            raise self._broken
        if self._gone:
            raise EOFError(self._gone)
        waiting: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        self._waiting[asked.id] = waiting
        self._fifos.write(line_of(asked))
        return await waiting

    async def idle(self) -> bool | None:
        """Nothing is in flight in a client that has answered every call, unless its file names a quiet window."""
        return None if self._file.spec.quiet_ms is not None else not self._waiting

    def died(self) -> str | None:
        """How its process ended by itself; None while it lives."""
        return self._launch.died() or (None if self._stopping else self._gone)

    async def stop(self) -> None:
        """End its processes and remove its folder. Safe to call twice."""
        self._stopping = True
        self._fifos.close()
        await self._launch.stop()
        if self._ending is not None:
            await self._ending


def _without(arrival: Arrival, says: str, planned: PlannedOperation, number: int, began_ns: int) -> Outcome:
    """An operation of which no outcome came."""
    return Outcome(
        operation=number,
        kind=Kind.UNKNOWN,
        arrival=arrival,
        form=planned.form,
        says=says,
        invoked_at_ns=began_ns,
        ended_at_ns=time.monotonic_ns(),
    )
