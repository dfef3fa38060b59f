"""A fault of the forwarder's own pool: its only connection is held by another operation, and nothing else may come."""

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.switchboard import Switchboard

POOL_GATE = "pool"  # whoever holds the connection is held here


class PoolFault:
    """From its arming until the connection is released. Its witness is that meanwhile nobody connected and nothing was
    received: what the subject was asked for has not left it.
    """

    fileno = None  # there is nothing to poll

    def __init__(self, board: Switchboard, step: ListenerStep) -> None:
        self._board = board
        self._seen = board.seen_since_arming
        self._striking = board.ledger.record(
            Striking, fault=step.fault, upstream=step.upstream, operation=step.operation
        )
        self._released = False

    def poll(self) -> None:
        """Nothing has to be asked for."""

    def release(self) -> None:
        """The connection is free from now on; record whether it struck, once."""
        if not self._released:
            self._released = True
            if self._board.seen_since_arming == self._seen:
                self._board.ledger.record(Struck, striking=self._striking, witness=Witness.HELD)

    def settle(self, *, excluded: bool) -> None:
        """It has struck when it was released, or not at all."""

    def close(self) -> None:
        """It holds nothing."""
