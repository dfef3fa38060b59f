"""Caller processes: started with their orders, begun together, and read when they have ended."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from suites.load.caller import DONE, READY
from suites.load.ended import Tally, joined, tally_in
from suites.load.found import Use
from suites.load.order import ORDER, RECORDS, SUMMARY, Order, Summary
from suites.load.progress import Count, Progress
from suites.load.usage import Watched
from suites.processes import Process, Supervisor
from suites.programs import environment

_PAUSE_S = 0.02  # between two looks at whether they are ready
_LAST_BYTES = 600


class CallerError(Exception):
    """Our own callers could not go on; the message says why."""


class AnyCrew(Protocol):
    """The caller processes of one load, wherever they are: `start`, `ready`, `begin`, and `stop` in any case."""

    async def start(self) -> None:
        """They connect, as soon as they can."""

    async def ready(self) -> None:
        """All are connected, or cannot be; or some are lost. Raises CallerError where one could not go on."""

    def begin(self) -> None:
        """The word."""

    def require(self) -> None:
        """Raises CallerError where one of them could not go on."""

    def lost(self) -> tuple[str, ...]:
        """Which of them are gone without a word, and how: what became of their operations nobody knows."""

    def are_done(self) -> bool:
        """All that was asked for has ended."""

    def counts(self) -> dict[Count, int]:
        """All that they count, together, as far as it is known."""

    def uses(self) -> tuple[Use, ...]:
        """What each of them takes, as far as it is known."""

    def last_number(self) -> int:
        """The greatest number of an operation that was begun; 0 where none was."""

    def tally(self) -> Tally:
        """What they have recorded, as far as they have. Raises CallerError where that cannot be read."""

    def give_up(self) -> None:
        """What is in flight is waited for no longer, and nothing else is asked for."""

    async def end(self) -> None:
        """They are ended, and have recorded what had become of their operations. Safe to call twice."""

    async def stop(self) -> None:
        """Nothing more is read of them. Safe to call twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caller:
    order: Order
    folder: Path
    process: Process
    progress: Progress
    watched: Watched


class Crew:
    """Those that are processes of this machine, and end with this process."""

    def __init__(self, orders: Sequence[Order], folder: Path, supervisor: Supervisor) -> None:
        self._orders = orders
        self._folder = folder
        self._supervisor = supervisor
        self._callers: list[_Caller] = []
        self._given_up = False

    async def start(self) -> None:
        """They connect, as soon as they can."""
        for order in self._orders:
            folder = self._folder / f"caller-{order.index}"
            folder.mkdir()
            (folder / ORDER).write_bytes(msgspec.json.encode(order))
            progress = Progress(folder, made=True)
            argv = [sys.executable, "-m", "suites.load.caller", str(folder)]
            try:
                process = await self._supervisor.start(argv, cwd=folder, env=environment(), log=folder / "log")
            except BaseException:
                progress.close()
                raise
            watched = Watched.session(process.pid)
            self._callers.append(
                _Caller(order=order, folder=folder, process=process, progress=progress, watched=watched)
            )

    async def ready(self) -> None:
        """All are connected, or cannot be. Raises CallerError where one could not go on."""
        while not all((caller.folder / READY).exists() for caller in self._callers):
            self.require()
            await asyncio.sleep(_PAUSE_S)  # a file gives no event; whether they live has to be looked at as well

    def begin(self) -> None:
        """The word."""
        for caller in self._callers:
            os.kill(caller.process.pid, signal.SIGUSR1)

    def require(self) -> None:
        """Raises CallerError where one of them could not go on."""
        for caller in self._callers:
            if (how := caller.process.died()) is not None:  # nobody but we may end them, whatever they say of it
                raise CallerError(f"a caller process {how}: {_last_words(caller.folder)}")

    def lost(self) -> tuple[str, ...]:
        """None: one that ends could not go on, and says why."""
        return ()

    def uses(self) -> tuple[Use, ...]:
        """What each of them takes, in the order of their indices."""
        return tuple(caller.watched.use() for caller in self._callers)

    def are_done(self) -> bool:
        """All that was asked for has ended."""
        return all((caller.folder / DONE).exists() for caller in self._callers)

    def counts(self) -> dict[Count, int]:
        """All that they count, together."""
        each = [caller.progress.read() for caller in self._callers]
        return {count: sum(one[count] for one in each) for count in Count}

    def last_number(self) -> int:
        """The greatest number of an operation that was begun; 0 where none was."""
        begun = [(caller.order, caller.progress.read()[Count.BEGUN]) for caller in self._callers]
        return max((order.number(count - 1) for order, count in begun if count), default=0)

    def tally(self) -> Tally:
        """What they have recorded, as far as they have. Raises CallerError where that cannot be read."""
        found = []
        for caller in self._callers:
            try:
                data = (caller.folder / SUMMARY).read_bytes()
                summary = msgspec.json.decode(data, type=Summary)
                found.append(tally_in(caller.folder / RECORDS, tuple(summary.whys)))
            except (OSError, ValueError) as error:
                raise CallerError(f"what a caller process recorded cannot be read: {error}") from None
        return joined(found)

    def give_up(self) -> None:
        """What is in flight is waited for no longer, and nothing else is asked for."""
        if not self._given_up:
            self._given_up = True
            for caller in self._callers:
                os.kill(caller.process.pid, signal.SIGUSR2)

    async def end(self) -> None:
        """They are ended, and have recorded what had become of their operations. Safe to call twice."""
        await asyncio.gather(*(caller.process.stop() for caller in self._callers))

    async def stop(self) -> None:
        """They are ended, and nothing more is read of them. Safe to call twice."""
        await self.end()
        callers, self._callers = self._callers, []
        for caller in callers:
            caller.progress.close()


def _last_words(folder: Path) -> str:
    text = (folder / "log").read_bytes()[-_LAST_BYTES:].decode(errors="replace").strip()
    return text.splitlines()[-1] if text else "it wrote nothing; expected it to go on until the load is over"
