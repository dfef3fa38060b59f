"""The bridge between a command and a Ray cluster: a process of its own, since what Ray does to the process that uses it
(handlers of signals, threads, an exit where the cluster is lost) is not to be done to a command. The only file that
imports Ray.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import Any, assert_never

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
from retryproof.interrupts import SIGNALS
from retryproof.pickles import messages_of, pickled

NODE_LOOK_S, NODE_LOOKS = 0.2, 75  # of a machine whose process was lost: by then it is known whether it lives


def main() -> None:
    """Do what stdin says, with the cluster at the address of the command line, until stdin ends."""
    _leave_signals()
    descriptor = os.dup(1)
    os.dup2(2, 1)  # whatever Ray prints is no message
    with suppress(BrokenPipeError):  # nobody listens any more
        asyncio.run(_relay(sys.argv[1], _Words(descriptor)))


def _leave_signals() -> None:
    """They are the command's affair."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


class _Words:
    """What goes to the command."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def say(self, word: Word) -> None:
        """Whole. Raises BrokenPipeError."""
        rest = memoryview(pickled(word))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


async def _relay(address: str, words: _Words) -> None:
    try:
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # noqa: BLE001  # whatever it raises, there is no cluster
        words.say(Refused(says=" ".join(f"{error}".split()) or type(error).__name__))
        return
    _leave_signals()  # it has taken them
    try:
        words.say(Connected(cpus=_cpus(ray)))
        units = _Units(ray, words)
        async for order in messages_of((await _stdin()).readexactly):
            units.obey(order)
        await units.close()
    finally:
        ray.shutdown()


def _cpus(ray: Any) -> int:
    """Of all nodes that are known to live."""
    return int(sum(node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]))


async def _stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


class _Units:
    """Each is an actor: a process of Ray that holds a worker process, on the CPU that it has been given."""

    def __init__(self, ray: Any, words: _Words) -> None:
        self._ray = ray
        self._words = words
        self._actor_class = ray.remote(
            num_cpus=1, max_restarts=0, max_concurrency=2, scheduling_strategy="SPREAD"
        )(_actor_class())  # fmt: skip
        self._actors: dict[int, Any] = {}
        self._placed: set[int] = set()
        self._nodes: dict[int, str] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def obey(self, order: Order) -> None:
        """Do that, for a unit that there is; one that has ended needs no order."""
        match order:
            case Begin(unit=unit):
                self._tasks[unit] = asyncio.create_task(self._live(order))
            case Tell(unit=unit, data=data):
                if unit in self._placed:
                    self._actors[unit].tell.remote(data)
            case Stop(unit=unit) if unit in self._placed:
                self._actors[unit].stop.remote()
            case Stop(unit=unit) | Kill(unit=unit):
                if unit in self._actors:
                    self._ray.kill(self._actors[unit])
            case _:
                assert_never(order)

    async def close(self) -> None:
        """Nothing of ours is left on the cluster."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _live(self, order: Begin) -> None:
        unit = order.unit
        how = "ended without a word"
        try:
            actor = self._actors[unit] = self._actor_class.remote()
            live = actor.live.options(num_returns="streaming")
            async for told in live.remote(order.edition, order.request):
                how = self._hand_on(unit, *await told) or how
        except self._ray.exceptions.RayError as error:
            how = f"was lost with its machine, or with its process of Ray ({type(error).__name__})"
            await self._hear_of_node(self._nodes.get(unit, ""))
        finally:
            self._placed.discard(unit)
            if (actor := self._actors.pop(unit, None)) is not None:
                self._ray.kill(actor)
            self._words.say(Gone(unit=unit, how=how, cpus=_cpus(self._ray)))

    async def _hear_of_node(self, node: str) -> None:
        """Its actor may be known to be lost before its machine is, whose CPUs would then be counted as there."""
        for _ in range(NODE_LOOKS):
            if not any(each["Alive"] and f"(node {each['NodeID'][:8]})" in node for each in self._ray.nodes()):
                return
            await asyncio.sleep(NODE_LOOK_S)  # Ray tells nobody of it

    def _hand_on(self, unit: int, kind: str, what: Any) -> str:
        """How it ended, where that is what was told; else empty."""
        match kind:
            case "node":
                self._placed.add(unit)
                self._nodes[unit] = what
                self._words.say(Placed(unit=unit, node=what))
            case "refused":
                self._words.say(Refused(unit=unit, says=what))
            case "piece":
                self._words.say(Piece(unit=unit, data=what))
            case "ended":
                return str(what)
        return ""


def _actor_class() -> type:
    """A class inside of a function goes to a node by value: whether there is a retryproof is found there, and told."""

    class Actor:
        def __init__(self) -> None:
            self.held: Any = None
            self.why = ""
            try:
                from retryproof.on_node import Held

                self.held = Held()
            except ImportError as error:
                self.why = f"retryproof cannot be imported there ({error}); expected the same as where the command runs"

        def live(self, edition: str, request: bytes) -> Any:
            import ray

            node = ray.get_runtime_context().get_node_id()
            yield "node", f"{ray.util.get_node_ip_address()} (node {node[:8]})"
            if self.held is None:
                yield "refused", self.why
            else:
                yield from self.held.live(edition, request)

        def tell(self, data: bytes) -> None:
            if self.held is not None:
                self.held.tell(data)

        def stop(self) -> None:
            if self.held is not None:
                self.held.stop()

    return Actor
