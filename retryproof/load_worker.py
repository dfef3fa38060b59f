"""A worker process with callers of a load. It ends when its stdin does, and they with it."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import assert_never

import uvloop

from retryproof.exits import Exit
from retryproof.load_frames import (
    Arrived,
    BeginAll,
    Begun,
    CannotGoOn,
    EndAll,
    GiveUpAll,
    Looked,
    Orders,
    Place,
    Ready,
    Recorded,
    Said,
    Told,
)
from retryproof.pickles import messages_of
from retryproof.temporary import temporary_folder
from suites.load.crew import CallerError, Crew
from suites.load.limits import SPARE_FILES
from suites.load.living import LOOK_S
from suites.load.machine import limits_here
from suites.load.order import Order
from suites.processes import ProcessError, Supervisor

ENDING_S = 20.0  # how long cleaning up may take once nobody listens any more

Say = Callable[[Said], None]


def live_callers(say: Say) -> None:
    """Do what stdin says, until it ends."""
    try:
        with temporary_folder() as folder, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_live(say, folder))
    except (CallerError, ProcessError, OSError) as error:
        say(CannotGoOn(says=str(error)))
    except Exception as error:  # noqa: BLE001  # a bug of ours is told by the parent, as one of its own
        say(CannotGoOn(says=f"internal error in a worker process: {error!r}"))


async def _live(say: Say, folder: Path) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    say(Arrived(place=Place.here()))
    async with Supervisor() as supervisor:
        callers = _Callers(say, folder, supervisor)
        try:
            async for told in messages_of(reader.readexactly):
                await callers.obey(told)
        finally:
            _end_in_time()
            await callers.close()


def _end_in_time() -> None:
    """What hangs is ended with this process, and by its reaper."""
    late = threading.Timer(ENDING_S, os._exit, (Exit.COULD_NOT_RUN,))
    late.daemon = True
    late.start()


class _Callers:
    """Those of this process. Nothing in `obey` waits for long, so that the end of stdin is heard."""

    def __init__(self, say: Say, folder: Path, supervisor: Supervisor) -> None:
        self._say = say
        self._folder = folder
        self._supervisor = supervisor
        self._word = asyncio.Event()
        self._crew: Crew | None = None
        self._work: asyncio.Task[None] | None = None
        self._recorded = False

    async def obey(self, told: Told) -> None:
        """Do that."""
        match told:
            case Orders(orders=orders):
                self._crew = crew = Crew(orders, self._folder, self._supervisor)
                self._work = asyncio.create_task(self._live(crew, orders))
            case BeginAll():
                self._word.set()
            case GiveUpAll():
                if self._crew is not None:
                    self._crew.give_up()
            case EndAll():
                await self._end()
            case _:
                assert_never(told)

    async def close(self) -> None:
        """Nothing of it goes on."""
        await self._stop_work()
        if self._crew is not None:
            await self._crew.stop()

    async def _live(self, crew: Crew, orders: tuple[Order, ...]) -> None:
        try:
            _require_room(orders)
            await crew.start()
            await crew.ready()
            self._look(crew)
            self._say(Ready())
            await self._word.wait()
            self._say(Begun(at_ns=time.monotonic_ns()))
            crew.begin()
            while not crew.are_done():
                await asyncio.sleep(LOOK_S)  # a look is a measurement: it comes with the clock
                crew.require()
                self._look(crew)
            self._record(crew)
        except (CallerError, ProcessError, OSError) as error:
            self._say(CannotGoOn(says=str(error)))

    async def _end(self) -> None:
        await self._stop_work()
        crew = self._crew
        if crew is not None:
            await crew.end()
            if not self._recorded:
                self._record(crew)

    async def _stop_work(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def _look(self, crew: Crew) -> None:
        self._say(Looked(counts=crew.counts(), uses=crew.uses()))

    def _record(self, crew: Crew) -> None:
        self._recorded = True
        self._look(crew)
        self._say(Recorded(tally=crew.tally(), last_number=crew.last_number()))


def _require_room(orders: tuple[Order, ...]) -> None:
    """Raises CallerError where one of these takes more files than a process may have here."""
    files, most = limits_here().files, max(order.slots for order in orders) + SPARE_FILES
    if files < most:
        raise CallerError(
            f"{files:,} files a process are fewer than the {most:,} that one caller process takes; raise the limit "
            "with `ulimit -n`, or ask for more of them with --processes"
        )
