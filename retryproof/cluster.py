"""A Ray cluster that there is, and the units that are lived through on it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from retryproof.bridge_frames import (
    Begin,
    Connected,
    Gone,
    Kill,
    Order,
    Piece,
    Placed,
    Refused,
    Stop,
    Tell,
    Word,
)
from retryproof.edition import edition
from retryproof.exits import CommandError, Exit
from retryproof.frames import CallersRequest, Failed, Request
from retryproof.pickles import messages_of, pickled
from retryproof.running import running
from retryproof.units import Unit
from suites.ending import to_the_end
from suites.processes import how_ended

AUTO = "auto"  # Ray finds the cluster of this machine
CONNECT_S = 60.0
REACH_S = 5.0  # of which a plain connect may take so much
CLOSE_S = 10.0


@asynccontextmanager
async def connected_to(address: str) -> AsyncIterator["Cluster"]:
    """That cluster, while inside; afterwards nothing of ours is left on it.

    Raises CommandError (exit code 4) where it is not there, or does not answer within CONNECT_S.
    """
    await _require_listener(address)
    process = await asyncio.create_subprocess_exec(
        *(*running("retryproof.ray_bridge:main"), address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # Ray's own words, which nobody asked for
        cwd="/",  # Ray has every node look for modules in this folder, before it looks for ours
        start_new_session=True,
    )
    try:
        cluster = await _greeted(address, process)
        reading = asyncio.create_task(cluster.read())
        try:
            yield cluster
        finally:
            await to_the_end(_close(process, reading))
    finally:
        if process.returncode is None:  # it was never connected, or does not end; Ray ends what it leaves
            process.kill()
        await to_the_end(_reap(process))


async def _require_listener(address: str) -> None:
    """Ray itself waits for minutes."""
    if address == AUTO:
        return
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(REACH_S):
            _, writer = await asyncio.open_connection(host, int(port))
        writer.close()
    except (OSError, TimeoutError) as error:
        raise _no_cluster(address, str(error) or f"no connection within {REACH_S:g} s") from None


async def _greeted(address: str, process: asyncio.subprocess.Process) -> "Cluster":
    assert process.stdout is not None
    try:
        async with asyncio.timeout(CONNECT_S):
            async for word in messages_of(process.stdout.readexactly):
                match word:
                    case Connected(cpus=cpus):
                        return Cluster(address, cpus, process)
                    case Refused(says=says):
                        raise _no_cluster(address, says)
            raise _no_cluster(address, f"what connects to it {how_ended(await process.wait())}")
    except TimeoutError:
        raise _no_cluster(address, f"no answer within {CONNECT_S:g} s") from None


def _no_cluster(address: str, why: str) -> CommandError:
    return CommandError(
        f"--ray {address}: {why}; expected the address of a Ray cluster that this machine belongs to (`ray status` "
        "says whether it runs)",
        Exit.COULD_NOT_RUN,
    )


class Cluster:
    """Where units are lived through. cpus: how many it has, whoever may use them now."""

    def __init__(self, address: str, cpus: int, process: asyncio.subprocess.Process) -> None:
        self.address = address
        self.cpus = cpus
        self._process = process
        self._units: list[_OnNode] = []
        self._lost = ""

    async def begin(self, request: Request | CallersRequest) -> Unit:
        """A worker process with that request, as soon as the cluster has a CPU for it. Raises CommandError where there
        is no cluster any more.
        """
        if self._lost:
            raise CommandError(f"--ray {self.address}: the cluster was lost: {self._lost}", Exit.COULD_NOT_RUN)
        unit = _OnNode(len(self._units), self)
        self._units.append(unit)
        self.order(Begin(unit=unit.number, edition=edition(), request=pickled(request)))
        return unit

    def order(self, order: Order) -> None:
        """Say so to the bridge; one that is gone hears nothing."""
        assert self._process.stdin is not None
        if not self._lost:
            self._process.stdin.write(pickled(order))

    async def read(self) -> None:
        """Hear the bridge until it has ended; then so have all units."""
        assert self._process.stdout is not None
        async for word in messages_of(self._process.stdout.readexactly):
            self._hear(word)
        self._lost = f"what connects to it {how_ended(await self._process.wait())}"
        for unit in self._units:
            unit.end(f"was lost: {self._lost}")

    def _hear(self, word: Word) -> None:
        match word:
            case Placed(unit=number, node=node):
                self._units[number].node = node
            case Piece(unit=number, data=data):
                self._units[number].hear(data)
            case Refused(unit=int(number), says=says):
                self._units[number].hear(pickled(Failed(says=says, code=Exit.COULD_NOT_RUN)))
            case Gone(unit=number, how=how, cpus=cpus):
                self.cpus = cpus
                self._units[number].end(how)
            case Connected() | Refused():
                raise AssertionError(word)
            case _:
                assert_never(word)


class _OnNode:
    """A worker process on one machine of the cluster: a Unit."""

    def __init__(self, number: int, cluster: Cluster) -> None:
        self.number = number
        self.node = ""
        self.frames = asyncio.StreamReader()
        self._cluster = cluster
        self._how = asyncio.get_running_loop().create_future()

    def tell(self, data: bytes) -> None:
        """It has begun: nobody is told anything before."""
        if not self._how.done():
            self._cluster.order(Tell(unit=self.number, data=data))

    def stop(self) -> None:
        """Where it has not begun, it never will."""
        if not self._how.done():
            self._cluster.order(Stop(unit=self.number))

    def kill(self) -> None:
        """From now on nobody waits for it."""
        self._cluster.order(Kill(unit=self.number))
        self.end("did not end when it was told to")

    def hear(self, data: bytes) -> None:
        """Some of its frames."""
        if not self._how.done():
            self.frames.feed_data(data)

    def end(self, how: str) -> None:
        """It has. Safe to call twice."""
        if not self._how.done():
            self._how.set_result(how)
            self.frames.feed_eof()

    async def ended(self) -> str:
        """As it was told."""
        how: str = await asyncio.shield(self._how)
        return how


async def _close(process: asyncio.subprocess.Process, reading: "asyncio.Task[None]") -> None:
    """The end of its stdin is its order to end."""
    assert process.stdin is not None
    process.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            await reading


async def _reap(process: asyncio.subprocess.Process) -> None:
    await process.wait()
