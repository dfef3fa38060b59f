"""What all connections of one router share: numbers, ledger, injector, gates, and the count of open work.

No socket is known here, and no loop.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from fake_router.entries import Marked
from fake_router.injector import HEALTHY_STEP, ExchangeStep, GateKey, Injector
from fake_router.ledger import Ledger
from fake_router.mixing import ArmedMix
from fake_router.poisoning import Poisons
from fake_router.routes import PROBES, Probe, unserved_work
from fake_router.service import INSTANT, Service
from fake_router.serving import Serving
from fake_router.wire import Request


class Watch(Protocol):
    """A witness that must be asked before the next connection or request is recorded, so that entries keep order."""

    def poll(self) -> None:
        """Record what has been seen since the last poll."""


class Switchboard:
    """The facts of one router's life that belong to no single connection."""

    def __init__(
        self,
        ledger: Ledger,
        upstreams: int,
        probes: Mapping[str, object] = PROBES,
        service: Service = INSTANT,
    ) -> None:
        self.ledger = ledger
        self.serving = Serving(service)
        self.probes = probes
        self.injector = Injector(upstreams)
        self.mix: ArmedMix | None = None
        self.watches: list[Watch] = []
        self.poisons = Poisons()
        self.seen_since_arming = 0  # connections opened and requests read
        self._connections = self._exchanges = self._executions = 0
        self._of_operation: dict[int, int] = {}
        self._open_gates: set[GateKey] = set()
        self._at_gate: dict[GateKey, list[Callable[[], None]]] = {}
        self._busy = 0
        self._on_change: list[Callable[[], None]] = []

    def next_connection(self) -> int:
        """The number of the connection that has just been accepted."""
        self.watched()
        self._connections += 1
        return self._connections

    def next_exchange(self, operation: int | None, upstream: int = 0) -> tuple[int, int, ExchangeStep]:
        """The number of the exchange that has just been read, its number within its operation, and its step."""
        if self.watches:
            self.watched()
        else:
            self.seen_since_arming += 1
        self._exchanges += 1
        if operation is None:
            return self._exchanges, 1, HEALTHY_STEP
        nth = self._of_operation.get(operation, 0) + 1
        self._of_operation[operation] = nth
        step = self.injector.take(operation, upstream)
        if self.mix is not None and nth == 1 and step is HEALTHY_STEP:
            step = self.mix.step_of(operation)
        return self._exchanges, nth, step

    def has_received(self, operation: int) -> bool:
        """A request that carries that operation has been read."""
        return operation in self._of_operation

    def forget_operations(self) -> None:
        """The exchanges of every operation are counted from 1 again, for a ledger that knows of none before."""
        self._of_operation.clear()

    def next_early(self) -> int:
        """The number of an exchange whose request is answered before it was read: it takes no step of its plan."""
        self.watched()
        self._exchanges += 1
        return self._exchanges

    def next_execution(self) -> int:
        """A number that no other execution of this router has."""
        self._executions += 1
        return self._executions

    def watched(self) -> None:
        """Record what the witnesses saw up to now; what the caller records next came later."""
        self.seen_since_arming += 1
        for watch in self.watches:
            watch.poll()

    def is_probe(self, request: Request) -> bool:
        """That request asks for no work."""
        return isinstance(unserved_work(request, self.probes), Probe)

    # Open work.

    @property
    def busy(self) -> int:
        """How much work that carries an operation is open."""
        return self._busy

    def busier(self, by: int) -> None:
        """Work began (1) or ended (-1)."""
        self._busy += by
        self._changed()

    def _changed(self) -> None:
        if self._on_change:
            for changed in tuple(self._on_change):
                changed()

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` after every change of `busy`, and of what is held, until the function returned is called."""
        self._on_change.append(changed)
        return lambda: self._on_change.remove(changed)

    # Gates.

    def is_open(self, gate: GateKey) -> bool:
        """Nothing is held at that gate."""
        return gate in self._open_gates

    def holds_at(self, gate: GateKey) -> bool:
        """Something is held there."""
        return bool(self._at_gate.get(gate))

    def hold_at(self, gate: GateKey, released: Callable[[], None]) -> None:
        """Call `released` once when the gate opens."""
        self._at_gate.setdefault(gate, []).append(released)
        self._changed()

    def open_gate(self, gate: GateKey) -> None:
        """Open a gate, for good until healing; what was held there goes on, in the order in which it came."""
        if gate in self._open_gates:
            return
        self._open_gates.add(gate)
        self.ledger.record(Marked, mark=f"gate {gate[1]}")
        for released in self._at_gate.pop(gate, []):
            released()

    def open_all_gates(self) -> None:
        """What is held anywhere goes on; every gate is closed again for what comes."""
        held = [released for waiting in self._at_gate.values() for released in waiting]
        self._at_gate.clear()
        self._open_gates.clear()
        for released in held:
            released()
