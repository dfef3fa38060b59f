"""Plans: which operation, or which listener, meets which fault. Finite, exact and replayable.

A plan holds no randomness and no milliseconds. Each operation lists the faults of its exchanges in the order in
which the router reads them; the exchange after the last one is healthy.
"""

from dataclasses import dataclass, field

from faults.acts import (
    Act,
    BetweenAct,
    DialAct,
    EndIdle,
    Hang,
    NeverAccept,
    is_listener_act,
    may_meet_reused,
    needs_expectation,
    needs_reused,
    needs_stream,
    needs_tcp,
    needs_tls,
)
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.disturbance import Disturb
from faults.form import Api, Form, form_of
from faults.poison import Poison
from faults.under import Hop, Overlay, over
from faults.vocabulary import Leaving

SCHEMA = 1
MAX_OPERATIONS = 1_000
MAX_UPSTREAMS = 16
MAX_OVERLAYS = 8
MAX_BODY_BYTES = 8 * 1024 * 1024
EACH_BYTE = 0  # the number of segments that means that each byte is written by itself
MAX_DIGITS = 18  # of a number in a gate's name: Python turns a text of thousands into none
RECEIVED_GATE = "received:"  # the gate of that name opens when the operation of that index is first received
LEFT_GATE = "left:"  # the gate of that name opens when the caller of the operation of that index has left


class PlanError(ValueError):
    """A plan that cannot be: the message quotes the value and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedOperation:
    """One operation of a plan.

    faults: ids for its first, second, ... exchange ("healthy" lets one pass). reused: its first exchange meets a
    connection that has carried one before; a listener's fault holds or ends the connections that lie idle when it
    is armed. segments: TCP segments in which the caller sends it (2: head, then body; 0: each byte is written by
    itself). body_bytes: its prompt is made so long that its body has at least so many bytes. expect: the caller
    waits for 100 Continue before it sends the body (RFC 9110 s10.1.1). wave: waves go one after the other, the
    operations of one are in flight together. gate: its first exchange is held, once received, until that gate opens
    ("received:N", "left:N", or by name through the control port). leaves: its caller leaves in that way once its
    first exchange has been received. api: what it asks for, "completions" or "chat". stream: it asks for a stream
    of events.
    """

    faults: tuple[str, ...] = ()
    reused: bool = False
    segments: int = 1
    body_bytes: int = 0
    expect: bool = False
    wave: int = 0
    gate: str | None = None
    leaves: Leaving | None = None
    api: str = Api.COMPLETIONS.value
    stream: bool = False

    def __post_init__(self) -> None:
        for id_ in self.faults:
            if is_listener_act(fault_named(id_).act):
                raise PlanError(
                    f"operation with fault {id_!r}: it strikes a listener; put it under `listeners` with an upstream"
                )
        if self.segments not in (EACH_BYTE, 1, 2):
            raise PlanError(f"segments is {self.segments!r}; expected 1, 2 (head and body apart), or 0 (each byte)")
        if not 0 <= self.body_bytes <= MAX_BODY_BYTES:
            raise PlanError(f"body_bytes is {self.body_bytes!r}; expected 0 (as few as needed) to {MAX_BODY_BYTES}")
        if self.body_bytes and self.segments == EACH_BYTE:
            raise PlanError(f"body_bytes {self.body_bytes!r} in segments of one byte; expected 0: a small body")
        if not 0 <= self.wave < MAX_OPERATIONS:
            raise PlanError(f"wave is {self.wave!r}; expected 0 to {MAX_OPERATIONS - 1}")
        for id_ in () if self.stream else self.faults:
            if needs_stream(fault_named(id_).act):
                raise PlanError(f"fault {id_!r} without `stream`; expected stream true: it strikes a stream alone")
        if self.api not in tuple(Api):
            raise PlanError(f"api is {self.api!r}; expected one of {', '.join(Api)}")

    @property
    def form(self) -> Form:
        """What it asks for."""
        return form_of(self.api, self.stream)

    @property
    def waits_for_its_caller(self) -> bool:
        """Its first exchange has no answer yet, or no whole one, when its caller leaves."""
        act = self._first_act
        return isinstance(act, Hang) or (isinstance(act, Answer) and (act.delay is not None or act.stalls))

    @property
    def begins_for_its_caller(self) -> bool:
        """A part of its stream comes, and then nothing more: its caller leaves when it holds some of that."""
        return self.stream and isinstance(self._first_act, Answer) and self._first_act.stalls

    @property
    def _first_act(self) -> Act | None:
        return fault_named(self.faults[0]).act if self.faults else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedListener:
    """One upstream that is faulty until healed: upstream None means every one; connections limits the fault to
    the first so many connections (None: all).
    """

    fault: str
    upstream: int | None = None
    connections: int | None = None

    def __post_init__(self) -> None:
        act = fault_named(self.fault).act
        if not is_listener_act(act):
            raise PlanError(f"listener with fault {self.fault!r}: it strikes an exchange; put it under `operations`")
        if self.connections is not None:
            if self.connections < 1:
                raise PlanError(f"connections is {self.connections!r}; expected 1 or more, or null for all")
            if isinstance(act, DialAct | NeverAccept | EndIdle | BetweenAct):
                raise PlanError(f"{self.fault!r} for {self.connections!r} connections; expected null: until healed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole plan. tls: all its upstreams speak TLS. under: what Toxiproxy lays over its hops while it lasts.

    Raises PlanError where parts do not fit together.
    """

    operations: tuple[PlannedOperation, ...]
    listeners: tuple[PlannedListener, ...] = ()
    upstreams: int = 1
    tls: bool = False
    under: tuple[Overlay, ...] = ()
    name: str = ""
    schema: int = field(default=SCHEMA)

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise PlanError(f"schema is {self.schema!r}; this version reads {SCHEMA}")
        if not 1 <= len(self.operations) <= MAX_OPERATIONS:
            raise PlanError(f"{len(self.operations)} operations; expected 1 to {MAX_OPERATIONS}")
        if not 1 <= self.upstreams <= MAX_UPSTREAMS:
            raise PlanError(f"upstreams is {self.upstreams!r}; expected 1 to {MAX_UPSTREAMS}")
        self._check_listeners()
        self._check_gates()
        self._check_leaving()
        self._check_tls()
        self._check_under()

    def _check_listeners(self) -> None:
        if self.listeners and len(self.operations) != 1:
            raise PlanError(
                f"{len(self.operations)} operations beside a listener's fault; expected one: a sending that the "
                "router cannot read belongs to the only operation in flight"
            )
        for listener in self.listeners:
            _check_beside(listener.fault, fault_named(listener.fault).act, self.operations[0])
        seen: set[int] = set()
        for listener in self.listeners:
            hit = range(self.upstreams) if listener.upstream is None else (listener.upstream,)
            for upstream in hit:
                if not 0 <= upstream < self.upstreams:
                    raise PlanError(f"upstream {upstream!r}; expected 0 to {self.upstreams - 1}")
                if upstream in seen:
                    raise PlanError(f"two faults on upstream {upstream!r}; expected one a listener")
                seen.add(upstream)

    def _check_gates(self) -> None:
        for index, operation in enumerate(self.operations):
            awaited = awaited_operation(operation.gate)
            if awaited is None:
                continue
            if not 0 <= awaited < len(self.operations) or awaited == index:
                raise PlanError(f"gate {operation.gate!r} of operation {index}; expected another operation's index")
            other = self.operations[awaited]
            if other.wave > operation.wave:
                raise PlanError(
                    f"gate {operation.gate!r} of operation {index} waits for a later wave; it would never open"
                )
            if other.gate is not None and awaited_operation(other.gate) is not None and awaited > index:
                raise PlanError(f"gates of operations {index} and {awaited} may wait for each other")

    def _check_leaving(self) -> None:
        for index, operation in enumerate(self.operations):
            left = f"{LEFT_GATE}{index}"
            if operation.gate is not None and operation.gate.startswith(LEFT_GATE):
                if operation.gate != left or operation.leaves is None:
                    raise PlanError(
                        f"gate {operation.gate!r} of operation {index}; expected {left!r}, and `leaves` beside it"
                    )
            elif operation.leaves is not None and not operation.waits_for_its_caller:
                raise PlanError(
                    f"operation {index} leaves by {operation.leaves!r}, but its answer may come first; expected a "
                    f"first fault that is silent, late or stalls, or the gate {left!r}"
                )
        if self.listeners and any(operation.leaves for operation in self.operations):
            raise PlanError("`leaves` beside a listener's fault; expected operations whose exchanges are received")

    def _check_under(self) -> None:
        if len(self.under) > MAX_OVERLAYS:
            raise PlanError(f"{len(self.under)} toxics under a plan; expected at most {MAX_OVERLAYS}")
        places = [overlay.place for overlay in self.under]
        for overlay in self.under:
            if places.count(overlay.place) > 1:
                raise PlanError(f"{overlay!r} beside another of its kind over the same bytes; expected each once")

    def _check_tls(self) -> None:
        for id_ in self.faults:
            act = fault_named(id_).act
            if not self.tls and needs_tls(act):
                raise PlanError(f"fault {id_!r} in a plan without `tls`; expected tls true: it strikes TLS alone")
            if self.tls and needs_tcp(act):
                raise PlanError(f"fault {id_!r} in a plan with `tls`; expected tls false: it strikes plain TCP alone")

    @property
    def faults(self) -> tuple[str, ...]:
        """The ids of all its faults, each once: of its listeners, then of its operations."""
        ids = [listener.fault for listener in self.listeners]
        ids += [id_ for operation in self.operations for id_ in operation.faults]
        return tuple(dict.fromkeys(ids))

    @property
    def toxiproxy(self) -> bool:
        """Its forwarder reaches its routers through Toxiproxy."""
        return bool(over(self.under, Hop.ROUTER)) or any(
            isinstance(fault_named(each.fault).act, Poison) for each in self.listeners
        )

    @property
    def disturbs(self) -> bool:
        """Something is done to the container that stands between its forwarder and its routers."""
        return any(isinstance(fault_named(each.fault).act, Disturb) for each in self.listeners)

    @property
    def needs_toxiproxy(self) -> bool:
        """There is a Toxiproxy on one of its hops."""
        return self.toxiproxy or bool(self.under)

    @property
    def concurrency(self) -> int:
        """The largest number of operations in flight together."""
        waves = [operation.wave for operation in self.operations]
        return max(waves.count(wave) for wave in set(waves))


def _check_beside(fault: str, act: Act, operation: PlannedOperation) -> None:
    """The only operation beside a listener's fault can meet it."""
    if operation.reused and not may_meet_reused(act):
        raise PlanError(f"{fault!r} beside a reused connection; expected reused false: it strikes new ones alone")
    if needs_reused(act) and not operation.reused:
        raise PlanError(f"{fault!r} without a connection that lies idle; expected reused true")
    if isinstance(act, BetweenAct) and operation.faults:
        raise PlanError(
            f"{fault!r} beside {operation.faults!r}; expected no further fault: the router behind is healthy"
        )
    if needs_expectation(act) and not operation.expect:
        raise PlanError(f"{fault!r} without an Expect: 100-continue to leave unanswered; expected expect true")


def awaited_operation(gate: str | None) -> int | None:
    """The index that a gate "received:N" waits for; None for no gate and for a gate opened by name.

    Raises PlanError when N is no number.
    """
    if gate is None or not gate.startswith(RECEIVED_GATE):
        return None
    number = gate.removeprefix(RECEIVED_GATE)
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        raise PlanError(f"gate {gate!r}; expected {RECEIVED_GATE}N with N the index of an operation")
    return int(number)
