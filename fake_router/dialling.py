"""Who can say that a fault of the connect phase struck: no socket of ours sees it, so the kernel has to."""

from threading import Thread

from fake_router.entries import Dialled, Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.kernel import DialWitness, listener_drops
from fake_router.ledger import Ledger
from fake_router.packet_socket import PacketsLostError
from faults.acts import DropSyn, Refuse
from faults.poison import Poison


class DialFault:
    """One listener that refuses, or drops SYNs, from its arming to its healing.

    Open it after a filler of our own has connected, and before a listener is made to refuse: then a dial that it
    sees is a subject's.
    """

    def __init__(self, ledger: Ledger, step: ListenerStep, port: int) -> None:
        self.refusing = isinstance(step.act, Refuse | Poison)
        self._drops_syns = isinstance(step.act, DropSyn)
        self._ledger = ledger
        self._step = step
        self._port = port
        self._settled = False
        self._dials = 0
        self._lost = False
        self._drops_before = listener_drops(port) if self._drops_syns else 0
        try:
            self._packets: DialWitness | None = DialWitness(port, refusing=self.refusing)
        except PermissionError:
            self._packets = None
        self._striking = ledger.record(Striking, fault=step.fault, upstream=step.upstream, operation=step.operation)

    @property
    def fileno(self) -> int | None:
        """Readable when there is something to poll; None where packets cannot be watched."""
        return None if self._packets is None else self._packets.fileno()

    def poll(self) -> None:
        """Record the dials since the last poll. A witness that has lost packets is one no more."""
        if self._packets is None:
            return
        try:
            dials = self._packets.read()
        except PacketsLostError:
            self._lost = True
            return
        for dial in dials:
            self._dials += 1
            self._ledger.record(Dialled, upstream=self._step.upstream, peer_port=dial.peer_port, refused=dial.refused)

    def settle(self, *, excluded: bool) -> None:
        """Record whether it struck, once, by the best witness there is.

        excluded: every upstream refuses and no connection or request came, so what failed failed here.
        """
        if self._settled:
            return
        self.poll()
        if self._dials and not self._lost:
            self._struck(Witness.PACKET, self._dials)
        elif self._drops_syns:  # the packet witness watches loopback over IPv4 alone; the kernel counts every SYN
            self._struck(Witness.SK_DROPS, listener_drops(self._port) - self._drops_before)
        elif excluded and self.refusing and self._packets is None:
            self._struck(Witness.EXCLUSION, 1)

    def _struck(self, witness: Witness, count: int) -> None:
        if count > 0:
            self._settled = True
            self._ledger.record(Struck, striking=self._striking, witness=witness, count=count)

    def close(self) -> None:
        """Watch no more. Safe to call twice.

        The kernel closes a packet socket only after an RCU grace period (measured: 10 ms), so a thread waits for it.
        """
        if self._packets is not None:
            Thread(target=self._packets.close, name="close-packet-socket").start()
            self._packets = None
