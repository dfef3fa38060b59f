"""The faults that listeners have from arming to healing, whoever connects to them: made and ended together."""

import asyncio
import socket
from collections.abc import Callable, Sequence

from fake_router.connect_faults import ConnectFaults
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.listener import Listener
from fake_router.name_server import NameServer
from fake_router.queueing import QueueFault
from fake_router.switchboard import Switchboard
from faults.acts import DialAct, LeaveUnread, NeverAccept
from faults.disturbance import Disturb
from faults.poison import Poison

Adopt = Callable[[socket.socket, int, int, int | None], Line | None]


class ListenerFaults:
    """The listeners of one router that are not well. `adopt`: what becomes of a socket that was accepted late, with
    its upstream, the peer's port, and the number that it has already.
    """

    def __init__(self, board: Switchboard, listeners: Sequence[Listener], adopt: Adopt) -> None:
        self._board = board
        self._listeners = listeners
        self._adopt = adopt
        self._connects = ConnectFaults(board, listeners)
        self._queues: list[QueueFault] = []

    def begin(self, steps: Sequence[ListenerStep], loop: asyncio.AbstractEventLoop, names: NameServer | None) -> None:
        """Make these listeners faulty, as far as that shows before a connection is accepted."""
        self._connects.begin([step for step in steps if _is_watched(step)], loop, names)
        for step in steps:
            match step.act:
                case NeverAccept(closes=closes):
                    self._queues.append(self._queue_fault(step, loop, closes))
                case LeaveUnread(small_buffer=True):
                    self._listeners[step.upstream].take_little()
                case _:
                    pass  # it strikes dials, or connections

    def reached_through(self, ports: Sequence[int]) -> None:
        """Whoever connects does so to these ports, one for each listener."""
        self._connects.reached_at = ports

    def release_pools(self) -> None:
        """What held the connection of a pool holds it no more."""
        self._connects.release_pools()

    def disturbed(self) -> None:
        """What was done to a container has lasted until now."""
        self._connects.disturbed()

    def settle(self) -> None:
        """Record of each whether it struck."""
        self._connects.settle()

    def drain(self) -> None:
        """The same, and what lies in queues."""
        self.settle()
        for queue in self._queues:
            queue.drain()

    def end(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Every listener is healthy again."""
        for queue in self._queues:
            queue.drain()
        for listener in self._listeners:
            listener.restore()
        self.close(loop)

    def close(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Watch nothing any more. Safe to call twice."""
        self._connects.close(loop)
        for queue in self._queues:
            queue.close()
        self._queues.clear()

    def _queue_fault(self, step: ListenerStep, loop: asyncio.AbstractEventLoop, closes: bool) -> QueueFault:
        def adopt(sock: socket.socket, peer_port: int, number: int | None) -> Line | None:
            return self._adopt(sock, step.upstream, peer_port, number)

        listener = self._listeners[step.upstream]
        return QueueFault(loop, self._board, listener, step, closes=closes, adopt=adopt)


def _is_watched(step: ListenerStep) -> bool:
    """What it strikes comes to no connection of ours: dials, or requests that are lost before. There is one container
    before all upstreams, so it is struck once.
    """
    act = step.act
    if isinstance(act, Disturb):
        return not act.holds and step.upstream == 0
    return isinstance(act, DialAct) or (isinstance(act, Poison) and (act.strikes_dials or act.strikes_requests))
