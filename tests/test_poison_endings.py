"""How long an end is waited for that a toxic may have brought: as long as one is on its way, and by what the kernel
and the router hold, never by a clock.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from suites.stage import Stage


@dataclass
class Ending:
    """A router and its thread. At each look one more of `over` has been seen; it holds so many connections at each."""

    over: list[set[int]]
    held: tuple[int, ...]
    looks: int = 0

    @property
    def between(self) -> "Ending":
        """It is asked for that too."""
        return self

    async def call(self, act: Callable[..., Any], *_: object) -> Any:
        return act(self)

    def poisons_over(self) -> set[int]:
        self.looks += 1
        return self.over[min(self.looks, len(self.over)) - 1]

    def connections(self, upstream: int) -> int:
        return self.held[upstream]


@dataclass
class Ports:
    """A way in name."""

    ports: tuple[int, ...]


def stage_of(router: Any, ports: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Its router is asked as if it were one."""
    monkeypatch.setattr("suites.stage.Router", Ending)
    fake: Any = Ports(ports)
    anything: Any = None
    return Stage(subject=anything, instance=anything, router=router, routers=router, through=fake)


async def test_of_two_ways_the_one_on_which_nothing_was_sent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The subject holds there what the router holds, so that no end is on its way."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        port = listener.getsockname()[1]
        router = Ending(over=[set(), {0}], held=(0, 1))
        assert await stage_of(router, (1, port), monkeypatch).poisons_over({0, 1}) == {0}
        assert router.looks == 2


async def test_an_end_that_is_on_its_way_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The subject has ended its side, and the router still holds the other."""
    router = Ending(over=[{0}, {0}, {0}, {0, 1}], held=(0, 1))
    assert await stage_of(router, (1, 2), monkeypatch).poisons_over({0, 1}) == {0, 1}
    assert router.looks == 4


async def test_the_first_end_is_waited_for_whatever_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something must strike: until then an end that nobody sees coming has its time."""
    router = Ending(over=[set(), set(), {1}], held=(0, 0))
    assert await stage_of(router, (1, 2), monkeypatch).poisons_over({0, 1}) == {1}
    assert router.looks == 3
