"""Futures in a stack: what a script does to the container of the router, when its server is quiet, how it ended."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from faults.disturbance import Disturbing
from suites.futures.control import ControlError
from suites.futures.disturbing import Disturbances
from suites.futures.hosts import host_of, powers_over
from suites.futures.notes import Notes
from suites.futures.offer import Storage, Terms
from suites.futures.quiescence import Quiescence
from suites.futures.record import Answer, Calmed, Disturbed, Kind, Landed, Submitted
from suites.futures.stack_host import StruckStackHost, how_ended
from suites.futures.struck import STRIKES, STRUCK
from suites.futures.suite import out_of_reach
from suites.processes import Supervisor
from suites.stacks.compose_file import load_stack
from suites.stacks.stack import StackSubject
from suites.stacks.state import State
from suites.way import Upstreams

TAKEN = Answer(kind=Kind.TAKEN, status=200, request_id="one")


class _Host:
    """A server with a container before its routers. says: how many are in flight, one after the other."""

    control = None

    def __init__(self, *says: int | None, lasted: bool = True) -> None:
        self.says = list(says)
        self.told: list[str] = []
        self._lasted = lasted

    async def in_flight(self) -> int | None:
        return self.says.pop(0)

    async def disturb(self, how: Disturbing) -> None:
        self.told.append(how)

    async def disturbed(self, how: Disturbing) -> bool:
        self.told.append(f"{how}?")
        return self._lasted

    async def calm(self) -> None:
        self.told.append("calm")


class _Gates:
    """A router that holds operation 7."""

    received = frozenset({7})

    def __init__(self, told: list[str]) -> None:
        self._told = told

    def held(self) -> set[int]:
        return {7}

    async def busy(self) -> int:
        return 1

    async def note(self, mark: str) -> None:
        self._told.append(mark)


def _notes() -> Notes:
    notes = Notes(terms=Terms(clock=False), now_ms=0, step=0)
    notes.saw(Submitted, operation=0, session=0, number=7, answer=TAKEN)
    return notes


@pytest.mark.parametrize("lasted", [True, False])
def test_what_is_done_to_the_container_is_done_witnessed_and_undone(lasted: bool) -> None:
    """In that order; the ledger is told, and what was in flight is cut off."""
    host: Any = _Host(lasted=lasted)
    notes, gates = _notes(), _Gates(host.told)

    async def live() -> None:
        disturbances = Disturbances(host, gates, notes)  # type: ignore[arg-type]
        await disturbances.begin(Disturbing.PAUSE, briefly=False)
        await disturbances.end()

    asyncio.run(live())
    assert host.told == ["pause", "container: pause", "pause?", "calm", "container healthy again"]
    assert [(type(fact), getattr(fact, "seen", None)) for fact in notes.facts[1:]] == [
        (Disturbed, None),
        (Calmed, lasted),
    ]
    assert (notes.cut, notes.lives.disturbing, notes.lives.operations[0].struck) == ({7}, None, True)


def test_what_is_over_before_anybody_gives_up_cuts_off_nothing() -> None:
    """It is in flight afterwards."""
    host: Any = _Host()
    notes = _notes()
    begun = Disturbances(host, _Gates([]), notes).begin(Disturbing.MOVE, briefly=True)  # type: ignore[arg-type]
    asyncio.run(begun)
    assert notes.cut == set()


def test_a_server_with_no_container_before_its_routers_is_not_struck() -> None:
    """The script breaks down, and proves nothing."""
    bare: Any = SimpleNamespace(control=None)
    with pytest.raises(ControlError, match="expected a stack that has one"):
        asyncio.run(Disturbances(bare, _Gates([]), _notes()).begin(Disturbing.KILL, briefly=False))  # type: ignore[arg-type]


@pytest.mark.parametrize(("cut", "says", "landed"), [(False, [0, None, 1], []), (True, [1, 0], [0])])
def test_a_server_in_a_stack_is_quiet_when_it_has_what_the_router_holds_in_flight(
    cut: bool, says: list[int | None], landed: list[int]
) -> None:
    """But for what was cut off: that it has given up, so that its outcome is there."""
    host: Any = _Host(*says)
    notes = _notes()
    notes.cut |= {7} if cut else set()

    async def arrived(_ms: int) -> bool:
        return False

    calls: Any = SimpleNamespace(numbers=[7], polls={0: SimpleNamespace(arrived=arrived)})
    asyncio.run(Quiescence(host, _Gates([]), calls, notes).reached())  # type: ignore[arg-type]
    assert host.says == []
    assert [fact.operation for fact in notes.facts if isinstance(fact, Landed)] == landed


@pytest.mark.parametrize(
    ("code", "killed", "says"),
    [
        (0, False, "exited with code 0"),
        (143, False, "was killed by SIGTERM"),
        (137, True, "was killed by SIGKILL"),
        (137, False, ""),
        (1, False, "exited with code 1"),
    ],
)
def test_the_end_of_a_container_is_told_as_that_of_a_process(code: int, killed: bool, says: str) -> None:
    """One that had to be killed, though it was told to end, did not end."""
    assert how_ended(State(status="exited", running=False, exit_code=code), killed=killed) == says


def test_on_the_host_s_network_a_stack_is_led_through_what_needs_no_other() -> None:
    """Its own store is the suites', its clock is not."""
    subject = StackSubject(load_stack("stack:vllm"), Supervisor())
    powers = powers_over(subject)
    assert (powers.no_restart, powers.no_sqlite, powers.no_container) == ("", "", "")
    assert "clock" in powers.no_clock
    reached = {name for name, script in STRUCK.items() if not out_of_reach(script, powers)}
    assert reached == {
        *(f"router: {how}" for how in STRIKES if not how.needs_network),
        "router: pause, briefly",
        "router and server killed",
    }
    assert isinstance(host_of(subject)(Storage(), Upstreams([])), StruckStackHost)


def test_where_no_limit_can_be_changed_no_router_runs_out_of_memory() -> None:
    """As on Podman 4.3, with the reason."""
    powers = replace(powers_over(StackSubject(load_stack("stack:vllm"), Supervisor())), no_limits="no limit")
    assert {how for how in STRIKES if powers.no_strike(how) == "no limit"} == {Disturbing.MEMORY}
    assert out_of_reach(STRUCK["router: memory"], powers) == "no limit"


def test_a_stack_with_nothing_before_its_routers_is_struck_in_no_script() -> None:
    """With the reason."""
    powers = powers_over(StackSubject(load_stack("stack:nginx"), Supervisor()))
    assert all(out_of_reach(script, powers) for script in STRUCK.values())
    assert "`retryproof.role: router`" in out_of_reach(STRUCK["router: pause"], powers)
