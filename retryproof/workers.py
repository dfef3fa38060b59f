"""Worker processes that share the plans of one examination, wherever they run. The same runs as in one process: which
plans there are, what confirms and what is judged is settled elsewhere.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from faults.plan import Plan
from retryproof.exits import CommandError, Exit
from retryproof.frames import Done, Failed, Frame, Lived, Request, frames_of
from retryproof.travelling import Expected, Travelling
from retryproof.units import Here, Unit
from retryproof.where import Where
from retryproof.worker import ENDING_S
from suites.ending import to_the_end
from suites.given import NOTHING_GIVEN, Given
from suites.run import Run
from suites.together import together
from suites.way import way_of

LIVES = 2  # how often what a dead worker has left is lived through in another one, the first time included
MOST_STARTED = LIVES  # for each place
NUMBERS = 2_000_000  # operations of one worker, which no other process of the examination uses
_CHUNK = 1 << 16

OnRun = Callable[[int, Run], None]
OnLost = Callable[[int, str], None]  # the place of a plan that could not be lived through, and why


@dataclass(slots=True, kw_only=True)
class Workers:
    """So many processes for one subject. Each has its own routers, lanes, instances and reaper.

    first: which number, among all worker processes of the command, the first of them has (from 1). where: they run.
    travelling, expected: of the subject, where that is not this machine.
    """

    name: str
    count: int
    given: Given = NOTHING_GIVEN
    lanes: int | None = None
    toxiproxy: bool = False
    first: int = 1
    where: Where = field(default_factory=Here)
    travelling: Travelling | None = None
    expected: Expected | None = None
    _started: int = 0

    async def live(self, plans: Sequence[Plan], on_run: OnRun, on_lost: OnLost) -> None:
        """Live through all plans; `on_run` hears of each run, `on_lost` of a plan on which two workers have died.

        Raises CommandError with what a worker says that could not go on; the others are then ended. When cancelled,
        it hears of the runs that they still hand on.
        """
        rest = dict(enumerate(plans))
        died: list[str] = []

        def lived(place: int, run: Run) -> None:
            del rest[place]
            on_run(place, run)

        for _ in range(LIVES):
            died = await self._share(rest, lived)
            if not rest:
                return
        for place in rest:
            on_lost(place, f"the worker process that lived through it {died[0]}, and so did the next one")

    async def _share(self, plans: dict[int, Plan], lived: OnRun) -> list[str]:
        """Each worker has its share, of every way some: those of one way share an instance. How those that died did."""
        shares = dealt_out(plans, min(self.count, len(plans)))
        return [how for how in await together(self._work(share, lived) for share in shares) if how]

    async def _work(self, share: Sequence[tuple[int, Plan]], lived: OnRun) -> str:
        """How it died; empty where it did not."""
        unit = await self.where.begin(self._request(share))
        reading = asyncio.ensure_future(_read(unit, lived))
        try:
            last = await asyncio.shield(reading)
        finally:
            await to_the_end(end_unit(unit, reading))
        match last:
            case Failed(says=says, code=code):
                raise (
                    CommandError(f"on {unit.node}: {says}", Exit.COULD_NOT_RUN)
                    if unit.node
                    else CommandError(says, code)
                )
            case Done():
                return ""
            case _:
                how = await unit.ended()
                return f"on {unit.node} {how}" if unit.node else how

    def _request(self, share: Sequence[tuple[int, Plan]]) -> Request:
        number = self.first + self._started
        self._started += 1
        return Request(
            name=self.name,
            plans=tuple(share),
            first_number=number * NUMBERS + 1,
            given=self.given,
            lanes=self.lanes,
            toxiproxy=self.toxiproxy,
            travelling=self.travelling,
            expected=self.expected,
        )


def dealt_out(plans: Mapping[int, Plan], shares: int) -> list[list[tuple[int, Plan]]]:
    """Of each way as many to each, and as many of all, each share in their order."""
    turns = {place: turn for turn, place in enumerate(sorted(plans, key=lambda place: str(way_of(plans[place]))))}
    return [[item for item in plans.items() if turns[item[0]] % shares == share] for share in range(shares)]


async def _read(unit: Unit, lived: OnRun) -> Frame | None:
    """Hand on its runs until it has ended, or has said its last word."""
    async for frame in frames_of(unit.frames.readexactly):
        if not isinstance(frame, Lived):
            return frame
        lived(frame.place, frame.run)
    return None


async def end_unit(unit: Unit, reading: "asyncio.Future[Any]") -> None:
    """Order it to. What it then still hands on is heard, within ENDING_S."""
    unit.stop()
    try:
        async with asyncio.timeout(ENDING_S):
            with contextlib.suppress(Exception):  # whoever waits for it has heard of it, or was cancelled before
                await reading
            while await unit.frames.read(_CHUNK):
                pass  # a pipe that is full would keep it from ending
            await unit.ended()
    except TimeoutError:
        unit.kill()
        await unit.ended()
