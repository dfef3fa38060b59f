"""What a plan does to a container is done once, at its moment, and is undone when every operation has its outcome."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_router.injector import poison_gate
from faults.catalogue import DISTURBANCES
from faults.disturbance import Disturb, Disturbing, Whose
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Moment
from suites.disturbed import Disturbed
from suites.history import Outcome
from suites.stage import Stage
from suites.subject import SubjectError
from tests.ledgers import lost

UPSTREAMS = 2
SO_SINCE_NS = 10_000_000_000
PATIENT_MS = 1


class _Told(list[str]):
    """What was said, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._more = asyncio.Event()

    def append(self, mark: str) -> None:
        super().append(mark)
        self._more.set()

    async def has(self, mark: str) -> None:
        """It has been said."""
        async with asyncio.timeout(10):
            while mark not in self:
                self._more.clear()
                await self._more.wait()


class _Router:
    """Writes down what it is told, of what is between as well."""

    def __init__(self, told: _Told) -> None:
        self._told = told
        self.between = self

    def setting_poison(self, upstream: int, *, begun: bool) -> None:
        self._told.append(f"begun {begun} {upstream}")

    def open_gate(self, name: str) -> None:
        self._told.append(f"opened {name}")

    def disturbed(self) -> None:
        self._told.append("struck")

    def note(self, mark: str) -> None:
        self._told.append(mark)


class _Instance:
    """A container that can be struck; `refuses`: its engine does not do it. lasts: it says so."""

    def __init__(self, told: _Told, *, refuses: bool, lasts: bool) -> None:
        self._told, self._refuses, self._lasts = told, refuses, lasts

    async def disturb(self, how: Disturbing, whose: Whose = Whose.ROUTER) -> int:
        if self._refuses:
            raise SubjectError("the engine did not do it")
        self._told.append(how.value if whose is Whose.ROUTER else f"{how} of the {whose}")
        return SO_SINCE_NS

    async def disturbed(self, how: Disturbing) -> bool:
        return self._lasts

    async def calm(self) -> None:
        self._told.append("calm")


class _Stage:
    """As much of a stage as is asked for."""

    ports = tuple(range(UPSTREAMS))
    subject = SimpleNamespace(spec=SimpleNamespace(read_timeout_ms=PATIENT_MS))

    def __init__(self, *, refuses: bool = False, lasts: bool = True) -> None:
        self.told = _Told()
        self.instance = _Instance(self.told, refuses=refuses, lasts=lasts)
        self._router = _Router(self.told)
        self.held_at = {poison_gate(upstream): asyncio.Event() for upstream in range(UPSTREAMS)}

    async def held(self, gate: str) -> None:
        await self.held_at[gate].wait()

    async def on_router(self, act: Callable[[Any], Any]) -> None:
        name = getattr(getattr(act, "func", None), "__name__", "")
        if hasattr(_Router, name):  # a method of the real router: the same one of ours
            getattr(self._router, name)(**act.keywords)  # type: ignore[attr-defined]
        else:
            act(self._router)


def fault_of(at: Moment, how: Disturbing = Disturbing.KILL, whose: Whose = Whose.ROUTER) -> str:
    """The fault that does so then."""
    act = Disturb(how=how, at=at, whose=whose)
    return next(id_ for id_, fault in DISTURBANCES.items() if fault.act == act)


def called(before_ms: float) -> list[Outcome]:
    """The history of one that was called that long before it was so."""
    return [replace(lost(), invoked_at_ns=SO_SINCE_NS - int(before_ms * 1_000_000))]


def disturbed(stage: _Stage, fault: str) -> Disturbed:
    """Of a plan with that fault."""
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault),), upstreams=UPSTREAMS)
    return Disturbed(cast(Stage, stage), plan)


@pytest.mark.parametrize("at", [Moment.RECEIVED, Moment.EXECUTED])
async def test_it_is_done_when_an_exchange_is_held(at: Moment) -> None:
    """Once, wherever that was; only work that was done before goes on afterwards."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(at))
    await doing.begin()
    assert stage.told == []
    for gate in stage.held_at.values():
        gate.set()
    await stage.told.has("container: kill")
    await doing.settle(called(0))
    opened = [] if at is Moment.RECEIVED else ["opened poison:0", "opened poison:1"]
    done = ["begun True 0", "begun True 1", "kill", "container: kill", *opened]
    assert stage.told == [*done, "struck", "calm", "container healthy again"]


async def test_a_forwarder_that_is_frozen_thaws_before_its_callers_have_their_answers() -> None:
    """They would wait for ever; it is witnessed then, and done once."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(Moment.EXECUTED, Disturbing.PAUSE, Whose.FORWARDER))
    await doing.begin()
    stage.held_at[poison_gate(0)].set()
    await stage.told.has("container healthy again")
    assert stage.told[2:] == [
        "pause of the forwarder",
        "container: pause",
        "opened poison:0",
        "opened poison:1",
        "struck",
        "calm",
        "container healthy again",
    ]
    said = list(stage.told)
    await doing.settle(called(0))
    assert stage.told == said


async def test_a_forwarder_that_is_killed_is_so_until_its_callers_know() -> None:
    """It is another container than that of the router."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(Moment.RECEIVED, Disturbing.KILL, Whose.FORWARDER))
    await doing.begin()
    stage.held_at[poison_gate(0)].set()
    await stage.told.has("container: kill")
    assert stage.told[2:] == ["kill of the forwarder", "container: kill"]
    await doing.settle(called(0))
    assert stage.told[4:] == ["struck", "calm", "container healthy again"]


async def test_before_any_request_it_is_done_at_once() -> None:
    """And holds nothing."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(Moment.CONNECT))
    await doing.begin()
    assert stage.told == ["kill"]
    await doing.settle(called(0))
    assert stage.told == ["kill", "struck", "calm", "container healthy again"]


async def test_what_did_not_last_did_not_strike() -> None:
    """It is undone all the same."""
    stage = _Stage(lasts=False)
    doing = disturbed(stage, fault_of(Moment.CONNECT))
    await doing.begin()
    await doing.settle(called(0))
    assert stage.told == ["kill", "calm", "container healthy again"]


@pytest.mark.parametrize("at", [Moment.RECEIVED, Moment.EXECUTED])
@pytest.mark.parametrize(
    ("how", "whose"),
    [
        (how, whose)
        for how in (Disturbing.KILL, Disturbing.RESTART, Disturbing.RECREATE)
        for whose in Whose
        if whose is not Whose.WORKER or how.may_strike_worker
    ],
)
@pytest.mark.parametrize(("before_ms", "late"), [(0, False), (PATIENT_MS - 0.1, False), (PATIENT_MS, True)])
async def test_what_was_killed_when_its_callers_time_was_over_may_not_have_struck_them(
    how: Disturbing, at: Moment, whose: Whose, before_ms: float, late: bool
) -> None:
    """They may have seen their own time-out: this machine's engine was too slow, and nobody can say."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(at, how, whose))
    await doing.begin()
    stage.held_at[poison_gate(0)].set()
    await stage.told.has(f"container: {how}")
    await doing.settle(called(before_ms))
    assert ("struck" in stage.told) is not late
    assert doing.late_ms == (before_ms if late else 0)
    assert stage.told[-2:] == ["calm", "container healthy again"]


@pytest.mark.parametrize(
    ("how", "at"),
    [
        (Disturbing.KILL, Moment.CONNECT),  # nobody was called before
        (Disturbing.PAUSE, Moment.RECEIVED),  # it shows that time-out
        (Disturbing.STOP, Moment.EXECUTED),  # what the forwarder sees of it is not foretold
        (Disturbing.MEMORY, Moment.EXECUTED),
    ],
)
async def test_what_shows_a_time_out_or_takes_its_time_may_be_late(how: Disturbing, at: Moment) -> None:
    """It has struck."""
    stage = _Stage()
    doing = disturbed(stage, fault_of(at, how))
    await doing.begin()
    stage.held_at[poison_gate(0)].set()
    await stage.told.has(how.value if at is Moment.CONNECT else f"container: {how}")
    await doing.settle(called(9 * PATIENT_MS))
    assert "struck" in stage.told
    assert doing.late_ms == 0


async def test_where_no_exchange_comes_nothing_is_done() -> None:
    """Nor is it said to have been done, unless the engine says so."""
    stage = _Stage(lasts=False)
    doing = disturbed(stage, fault_of(Moment.RECEIVED))
    await doing.begin()
    await doing.settle(called(0))
    assert stage.told == ["calm", "container healthy again"]


async def test_what_an_engine_refuses_ends_the_run() -> None:
    """At the moment itself, or when the run is over."""
    with pytest.raises(SubjectError, match="did not do it"):
        await disturbed(_Stage(refuses=True), fault_of(Moment.CONNECT)).begin()
    stage = _Stage(refuses=True)
    doing = disturbed(stage, fault_of(Moment.RECEIVED))
    await doing.begin()
    stage.held_at[poison_gate(1)].set()
    await stage.told.has("begun True 1")
    with pytest.raises(SubjectError, match="did not do it"):
        await doing.settle(called(0))
