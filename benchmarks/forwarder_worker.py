"""One forwarder in a process of its own, and so many operations at once through it, round after round.

`python -m benchmarks.forwarder_worker '{"http_client": ..., "in_flight": ..., ...}'` prints one line of JSON a round.
"""

import asyncio
import json
import os
import signal
import sys
import time
from types import FrameType

import aiohttp
import msgspec
import uvloop

from forwarder import Forwarder, ForwardError, Settings
from forwarder.collecting import collect_seldom

_LOOK_S = 0.05  # between two looks at how many the router holds: nothing tells
_REQUEST = {"prompt": [1, 2, 3], "return_token_ids": True, "logprobs": 1, "max_tokens": 4}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """held: at the router at once, before any is answered (0: each is answered at once). connections: at most (0: as
    many as it takes, or the client's own limit). longest_cpu_s: rounds that take more are ended.
    """

    http_client: str
    router: str
    control: str
    in_flight: int
    rounds: int
    connections: int = 0
    held: int = 0
    longest_cpu_s: float = 600.0


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one took, so far where it is not `whole`: CPU of this process, user and kernel; seconds by the clock."""

    cpu_s: float
    seconds: float
    failures: int
    whole: bool


class Clock:
    """What the round that is under way has taken. When the time of all is over it tells that and ends the process: to
    cancel what is in flight, or to wait until its loop comes round, could take longer than all before.
    """

    def __init__(self, longest_cpu_s: float) -> None:
        self.failures = 0
        self._cpu_s, self._began = _cpu_s(), time.perf_counter()
        signal.signal(signal.SIGPROF, self._over)
        signal.setitimer(signal.ITIMER_PROF, longest_cpu_s)

    def begin(self) -> None:
        """A round."""
        self.failures = 0
        self._cpu_s, self._began = _cpu_s(), time.perf_counter()

    def tell(self, *, whole: bool) -> None:
        """It is over, or it has to be."""
        cpu_s, seconds = _cpu_s() - self._cpu_s, time.perf_counter() - self._began
        found = Round(cpu_s=cpu_s, seconds=seconds, failures=self.failures, whole=whole)
        print(msgspec.json.encode(found).decode(), flush=True)

    def _over(self, _: int, __: FrameType | None) -> None:
        self.tell(whole=False)
        os._exit(0)


async def lived(task: Task) -> None:
    """Every round on the same forwarder."""
    settings = Settings(max_connections=task.connections, keep_alive_ms=600_000)
    async with (
        Forwarder([task.router], settings=settings, http_client=task.http_client) as forwarder,
        aiohttp.ClientSession(task.control) as control,
    ):
        collect_seldom()
        clock = Clock(task.longest_cpu_s)
        for _ in range(task.rounds):
            async with control.post("/reset"):
                pass  # it holds again
            clock.begin()
            await _all(task, forwarder, control, clock)
            clock.tell(whole=True)


async def _all(task: Task, forwarder: Forwarder, control: aiohttp.ClientSession, clock: Clock) -> None:
    asked = asyncio.gather(*(_one(forwarder, clock) for _ in range(task.in_flight)))
    while task.held and await _held(control) < task.held:  # noqa: ASYNC110 - another process gives no event
        await asyncio.sleep(_LOOK_S)
    if task.held:
        async with control.post("/release", json={}):
            pass
    await asked


async def _one(forwarder: Forwarder, clock: Clock) -> None:
    try:
        await forwarder.complete(_REQUEST)
    except ForwardError:
        clock.failures += 1


async def _held(control: aiohttp.ClientSession) -> int:
    async with control.get("/status") as answer:
        return int(json.loads(await answer.read())["held"])


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system


if __name__ == "__main__":
    uvloop.run(lived(msgspec.json.decode(sys.argv[1], type=Task)))
