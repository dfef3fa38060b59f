"""Which act strikes at the point that was reached. Matching a plan and consuming its step are one operation."""

from dataclasses import dataclass, field
from typing import cast

from fake_router.content import MAX_NUMBER
from fake_router.own_network import can_filter_packets
from faults.acts import (
    HEALTHY,
    BetweenAct,
    DialAct,
    EndIdle,
    ExchangeAct,
    ListenerAct,
    Misresolve,
    NeverAccept,
    Unreachable,
    may_meet_reused,
)
from faults.catalogue import fault_named
from faults.disturbance import Disturb
from faults.plan import Plan, PlanError, PlannedOperation, awaited_operation
from faults.poison import Moment

MAX_READ_TIMEOUT_MS = 3_600_000  # as much as a subject may have
GateKey = tuple[int, str]  # the number of the armed plan (0: any), and the gate's name


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeStep:
    """What happens to one exchange. `gate` holds it first; `opens` is the gate that its receipt opens. poison: the
    toxic that strikes it on its way, where one does.
    """

    act: ExchangeAct = HEALTHY
    fault: str | None = None
    read_timeout_s: float = 0.0
    gate: GateKey | None = None
    opens: GateKey | None = None
    poison: "ListenerStep | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerStep:
    """What happens to the connections of one listener, or to one connection of it. reused: also to those that are
    idle when it is armed.
    """

    upstream: int
    act: ListenerAct
    fault: str
    operation: int
    read_timeout_s: float
    reused: bool = False


HEALTHY_STEP = ExchangeStep()


def poison_gate(upstream: int) -> str:
    """The name of the gate at which an exchange on that upstream is held until a toxic is set."""
    return f"poison:{upstream}"


@dataclass(slots=True, kw_only=True)
class _ArmedOperation:
    planned: PlannedOperation
    read_timeout_s: float
    gate: GateKey | None
    opens: GateKey | None
    taken: int = 0


@dataclass(slots=True, kw_only=True)
class _ArmedListener:
    step: ListenerStep
    left: int | None

    def take(self) -> ListenerStep | None:
        """The step of one more connection, as long as there is one left."""
        if self.left == 0:
            return None
        if self.left is not None:
            self.left -= 1
        return self.step


@dataclass(slots=True)
class Injector:
    """The plans that are armed, and how far each has been consumed."""

    upstreams: int
    names: bool = False
    _plans: int = 0
    _operations: dict[int, _ArmedOperation] = field(default_factory=dict)
    _listeners: dict[int, _ArmedListener] = field(default_factory=dict)

    def arm(self, plan: Plan, *, first_operation: int, read_timeout_ms: int) -> list[ListenerStep]:
        """Arm one more plan; its operation i has the number first_operation + i.

        Returns the listeners that are faulty from now on. Raises PlanError, with nothing armed, when the
        plan does not fit to this router or to what is armed.
        """
        numbers = range(first_operation, first_operation + len(plan.operations))
        if first_operation < 1 or numbers[-1] > MAX_NUMBER:
            raise PlanError(f"first_operation is {first_operation!r}; expected 1 or more, and none above {MAX_NUMBER}")
        if not 1 <= read_timeout_ms <= MAX_READ_TIMEOUT_MS:
            raise PlanError(f"read_timeout_ms is {read_timeout_ms!r}; expected 1 or more, up to {MAX_READ_TIMEOUT_MS}")
        if plan.upstreams > self.upstreams:
            raise PlanError(
                f"upstreams is {plan.upstreams!r}; expected no more than this router plays: {self.upstreams}"
            )
        taken = [number for number in numbers if number in self._operations]
        if taken:
            raise PlanError(f"operation {taken[0]} is armed already; expected numbers that no armed plan has")
        listeners = self._listener_steps(plan, first_operation, read_timeout_ms / 1000)
        self._plans += 1
        awaited = {awaited_operation(operation.gate) for operation in plan.operations}
        for index, (number, operation) in enumerate(zip(numbers, plan.operations, strict=True)):
            self._operations[number] = _ArmedOperation(
                planned=operation,
                read_timeout_s=read_timeout_ms / 1000,
                gate=self._key(operation.gate),
                opens=(self._plans, f"received:{index}") if index in awaited else None,
            )
        for listener in listeners:
            self._listeners[listener.step.upstream] = listener
        return [one.step for one in listeners]

    def _key(self, gate: str | None) -> GateKey | None:
        if gate is None:
            return None
        awaited = awaited_operation(gate)
        return (0, gate) if awaited is None else (self._plans, f"received:{awaited}")

    def _listener_steps(self, plan: Plan, operation: int, read_timeout_s: float) -> list[_ArmedListener]:
        armed = []
        for planned in plan.listeners:
            hit = range(self.upstreams) if planned.upstream is None else (planned.upstream,)
            for upstream in hit:
                if upstream in self._listeners:
                    raise PlanError(f"upstream {upstream!r} is faulty already; expected one fault a listener")
                if isinstance(fault_named(planned.fault).act, Misresolve) and not self.names:
                    raise PlanError(f"{planned.fault!r}: this router plays no name server; expected one that does")
                if isinstance(fault_named(planned.fault).act, Unreachable) and not can_filter_packets():
                    raise PlanError(
                        f"{planned.fault!r}: a packet filter of this machine would be changed; expected a process in a "
                        "network of its own (`retryproof check --own-network`), and iptables"
                    )
                step = ListenerStep(
                    upstream=upstream,
                    act=cast(ListenerAct, fault_named(planned.fault).act),
                    fault=planned.fault,
                    operation=operation,
                    read_timeout_s=read_timeout_s,
                    reused=plan.operations[0].reused,
                )
                armed.append(_ArmedListener(step=step, left=planned.connections))
        return armed

    def take(self, operation: int, upstream: int = 0) -> ExchangeStep:
        """The step of this operation's next exchange; the exchange after the last planned one is healthy."""
        poison = self.poison_on(upstream) if self._listeners else None
        if poison is not None and operation == poison.operation and not _is_done_before(poison):
            return _poisoned(poison)
        armed = self._operations.get(operation)
        if armed is None:
            return HEALTHY_STEP
        nth, armed.taken = armed.taken, armed.taken + 1
        gate, opens = (armed.gate, armed.opens) if nth == 0 else (None, None)
        if nth >= len(armed.planned.faults):
            return ExchangeStep(read_timeout_s=armed.read_timeout_s, gate=gate, opens=opens)
        fault = armed.planned.faults[nth]
        return ExchangeStep(
            act=cast(ExchangeAct, fault_named(fault).act),
            fault=fault,
            read_timeout_s=armed.read_timeout_s,
            gate=gate,
            opens=opens,
        )

    def take_connection(self, upstream: int) -> ListenerStep | None:
        """The step of this listener's next connection; None where it is healthy.

        A listener that accepts none has no connections: one that is accepted then was made before, and is healthy.
        """
        armed = self._listeners.get(upstream)
        if armed is None or isinstance(armed.step.act, DialAct | NeverAccept | EndIdle | BetweenAct):
            return None
        return armed.take()

    def poison_on(self, upstream: int) -> ListenerStep | None:
        """The toxic that is armed on the way to it, or what is done to a container there."""
        armed = self._listeners.get(upstream)
        if armed is None or not isinstance(armed.step.act, BetweenAct):
            return None
        return armed.step

    def take_idle(self, upstream: int) -> ListenerStep | None:
        """The step of one connection that lies idle; None where it stays as it is."""
        armed = self._listeners.get(upstream)
        if armed is None or not armed.step.reused or not may_meet_reused(armed.step.act):
            return None
        return armed.take()

    def disarm(self) -> None:
        """Nothing strikes from now on."""
        self._operations.clear()
        self._listeners.clear()


def _is_done_before(step: ListenerStep) -> bool:
    """A container that was struck before the request: what comes through all the same is served as any other."""
    return isinstance(step.act, Disturb) and not step.act.holds


def _poisoned(step: ListenerStep) -> ExchangeStep:
    """The router is healthy, and stops where the toxic is to be set."""
    assert isinstance(step.act, BetweenAct)
    gate = (0, poison_gate(step.upstream)) if step.act.at is Moment.RECEIVED else None
    return ExchangeStep(
        act=step.act.answer, fault=step.fault, read_timeout_s=step.read_timeout_s, gate=gate, poison=step
    )
