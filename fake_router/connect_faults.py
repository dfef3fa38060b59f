"""The faults that are armed and seen by no connection: what is done to listeners and names, and who witnesses it."""

import asyncio
from collections.abc import Sequence

from fake_router.dialling import DialFault
from fake_router.disturbing import DisturbFault
from fake_router.injector import ListenerStep
from fake_router.listener import Listener
from fake_router.name_server import NameServer
from fake_router.naming import NameFault
from fake_router.pooling import PoolFault
from fake_router.sighting import SightedWay
from fake_router.switchboard import Switchboard
from faults.acts import HoldPool, Misresolve, Refuse, Unreachable
from faults.disturbance import Disturb
from faults.poison import Poison

_Watched = DialFault | DisturbFault | NameFault | PoolFault | SightedWay


class ConnectFaults:
    """From their arming to their healing."""

    def __init__(self, board: Switchboard, listeners: Sequence[Listener]) -> None:
        self._board = board
        self._listeners = listeners
        self._faults: list[_Watched] = []
        self.reached_at: Sequence[int] | None = None  # the ports of proxies before the listeners

    def begin(self, steps: Sequence[ListenerStep], loop: asyncio.AbstractEventLoop, names: NameServer | None) -> None:
        """Make the listeners, or the names, of these steps faulty, beside those that are."""
        if not self._faults:
            self._board.seen_since_arming = 0
        for step in steps:
            fault = self._fault(step, names)
            if fault.fileno is not None:
                loop.add_reader(fault.fileno, fault.poll)
            self._faults.append(fault)
        self._board.watches[:] = self._faults

    def _fault(self, step: ListenerStep, names: NameServer | None) -> _Watched:
        ledger = self._board.ledger
        if isinstance(step.act, HoldPool):
            return PoolFault(self._board, step)
        if isinstance(step.act, Disturb):
            return DisturbFault(ledger, step)
        if isinstance(step.act, Misresolve):
            assert names is not None, "the injector has seen to that"
            return NameFault(ledger, step, step.act, names)
        listener = self._listeners[step.upstream]
        if isinstance(step.act, Poison):
            assert self.reached_at is not None, "who arms a toxic says where Toxiproxy listens"
            port = self.reached_at[step.upstream]
            return DialFault(ledger, step, port) if step.act.strikes_dials else SightedWay(self._board, step, port)
        if isinstance(step.act, Refuse):
            fault = DialFault(ledger, step, listener.port)
            listener.refuse()
        elif isinstance(step.act, Unreachable):
            fault = DialFault(ledger, step, listener.port)
            listener.become_unreachable()
        else:
            listener.drop_syns()
            fault = DialFault(ledger, step, listener.port)
        return fault

    def release_pools(self) -> None:
        """What held the connection of a pool holds it no more."""
        for fault in self._faults:
            if isinstance(fault, PoolFault):
                fault.release()

    def disturbed(self) -> None:
        """What was done to a container has lasted until now."""
        for fault in self._faults:
            if isinstance(fault, DisturbFault):
                fault.disturbed()

    def settle(self) -> None:
        """Record of each whether it struck."""
        refusing = all(not listener.listening for listener in self._listeners)
        excluded = refusing and self._board.seen_since_arming == 0
        for fault in self._faults:
            fault.settle(excluded=excluded)

    def close(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Watch no more. Safe to call twice."""
        for fault in self._faults:
            if fault.fileno is not None and loop is not None:
                loop.remove_reader(fault.fileno)
            fault.close()
        self._faults.clear()
        self._board.watches.clear()
