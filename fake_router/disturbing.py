"""A container that was struck before any request came: what Docker did to it, and for how long."""

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger


class DisturbFault:
    """From its arming until Docker has said that it lasted. It struck whoever was called meanwhile: what it kept from
    the router, the router cannot see.
    """

    fileno = None  # there is nothing to poll

    def __init__(self, ledger: Ledger, step: ListenerStep) -> None:
        self._ledger = ledger
        self._striking = ledger.record(Striking, fault=step.fault, upstream=step.upstream, operation=step.operation)
        self._lasted = False

    def poll(self) -> None:
        """Nothing has to be asked for."""

    def disturbed(self) -> None:
        """Docker says that it has lasted until now; said once."""
        if not self._lasted:
            self._lasted = True
            self._ledger.record(Struck, striking=self._striking, witness=Witness.ENGINE)

    def settle(self, *, excluded: bool) -> None:
        """It has struck when Docker said so, or not at all."""

    def close(self) -> None:
        """It holds nothing."""
