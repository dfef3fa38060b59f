"""Processes of foreign subjects, started and ended through a reaper that outlives us by exactly one clean-up."""

import asyncio
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_REAPER = Path(__file__).with_name("reaper.py")


class ProcessError(Exception):
    """A process could not be started, or its supervisor is gone; the message says what was expected."""


class ReservedPort:
    """A TCP port of 127.0.0.1 that nobody else gets: bound and never listening, so that a process which is told
    its number can bind over it (with SO_REUSEADDR, as servers do, or SO_REUSEPORT).
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._socket.bind(("127.0.0.1", 0))
        except BaseException:
            self._socket.close()
            raise
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        """Give the number back. Safe to call twice."""
        self._socket.close()


class Process:
    """One process that leads a session of its own. Made by Supervisor.start."""

    def __init__(self, supervisor: "Supervisor", id_: int, pid: int) -> None:
        self._supervisor = supervisor
        self._id = id_
        self.pid = pid
        self.ended = asyncio.Event()  # set when it has ended, by itself or not
        self._how: str | None = None
        self._stopping = False
        self._gone = asyncio.Event()

    def died(self) -> str | None:
        """How it ended by itself; None while it lives, and when it was stopped."""
        return self._how

    async def stop(self) -> None:
        """End it and all that it has started: SIGTERM, then SIGKILL. Returns when they are gone; safe to call twice."""
        if not self._stopping:
            self._stopping = True
            self._supervisor._order(order="stop", id=self._id)
        await self._gone.wait()

    def _on_exited(self, how: str) -> None:
        if not self._stopping and self._how is None:
            self._how = how
        self.ended.set()

    def _on_gone(self) -> None:
        self.ended.set()
        self._gone.set()


class Supervisor:
    """The reaper of this process, one for all its subjects. An async context manager: leaving it ends them all.

    Lives on one event loop. When this process ends in whatever way, the reaper ends the subjects. When the
    reaper ends first, they are killed from here. grace_ms: how long a subject may take over SIGTERM before SIGKILL.
    """

    def __init__(self, *, grace_ms: int = 2_000) -> None:
        self._grace_ms = grace_ms
        self._ids = itertools.count(1)
        self._starting: dict[int, asyncio.Future[Process]] = {}
        self._processes: dict[int, Process] = {}
        self._is_gone = False

    async def __aenter__(self) -> Self:
        # Its own session: a Ctrl-C at the terminal is ours to handle, and must not reach it or the subjects.
        self._reaper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_REAPER), str(self._grace_ms)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = self._reaper.pid
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._reaper.stdin is not None
        for process in self._processes.values():
            process._stopping = True
        self._reaper.stdin.close()  # the order to end everything
        await asyncio.shield(self._listening)
        await self._reaper.wait()

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        folder: Path | None = None,
        stdin: Path | None = None,
        stdout: Path | None = None,
    ) -> Process:
        """Start a command; what it writes to stdout and stderr is appended to `log`. `folder` is removed by its owner
        after it was stopped, and by the reaper when its owner is no more. stdin, stdout: FIFOs in place of nothing and
        of the log, whose other ends are open already: it is started only once it has opened its own.

        Raises ProcessError when the command cannot be executed, or when the reaper is gone.
        """
        id_ = next(self._ids)
        started: asyncio.Future[Process] = asyncio.get_running_loop().create_future()
        self._starting[id_] = started
        given = {"folder": folder, "stdin": stdin, "stdout": stdout}
        paths = {
            "cwd": str(cwd),
            "log": str(log),
            **{name: str(path) if path else None for name, path in given.items()},
        }
        self._order(order="start", id=id_, argv=list(argv), env=dict(env), **paths)
        try:
            return await started
        except asyncio.CancelledError:
            self._order(order="stop", id=id_)
            raise

    def _order(self, **order: object) -> None:
        assert self._reaper.stdin is not None
        if self._is_gone:
            self._fail_all()
        else:
            self._reaper.stdin.write(json.dumps(order).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._reaper.stdout is not None
        while line := await self._reaper.stdout.readline():
            self._on_event(json.loads(line))
        self._is_gone = True
        self._fail_all()

    def _on_event(self, event: dict[str, object]) -> None:
        match event:
            case {"event": "started", "id": int(id_), "pid": int(pid)}:
                process = self._processes[id_] = Process(self, id_, pid)
                if not (started := self._starting.pop(id_)).done():
                    started.set_result(process)
            case {"event": "failed", "id": int(id_), "error": error}:
                if not (started := self._starting.pop(id_)).done():
                    started.set_exception(ProcessError(f"the command could not be executed: {error}"))
            case {"event": "exited", "id": int(id_), "code": int(code)}:
                self._processes[id_]._on_exited(how_ended(code))
            case {"event": "stopped", "id": int(id_)}:
                self._processes.pop(id_)._on_gone()
            case _:
                raise ProcessError(f"the reaper said {event!r}; expected started, failed, exited or stopped")

    def _fail_all(self) -> None:
        """The reaper is gone: what it may have left behind is killed from here."""
        for started in self._starting.values():
            if not started.done():
                started.set_exception(ProcessError("the supervising process has ended; expected it to outlive us"))
        self._starting.clear()
        for process in self._processes.values():
            _kill_group(process.pid)
            process._on_exited("its supervising process was ended by somebody else")
            process._on_gone()
        self._processes.clear()


def how_ended(code: int) -> str:
    """How a process with that return code ended, in words."""
    if code >= 0:
        return f"exited with code {code}"
    names = {int(member): member.name for member in signal.Signals}  # not all real-time signals have one
    return f"was killed by {names.get(-code, f'signal {-code}')}"


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
