"""When what routers hold is released, and how the places of an engine are dealt out among them."""

from dataclasses import dataclass

import pytest

from fake_router.service import INSTANT, Engine, Held
from suites.load.asked import Load
from suites.load.releasing import Releasing, services_of
from suites.load.routers import Status

HELD = Load(in_flight=4, operations=4, service=Held())


@dataclass
class _Router:
    """Holds so many at each look, with one entry for each."""

    held: list[int]
    released: int = 0

    async def status(self) -> Status:
        held = self.held.pop(0)
        return Status(busy=held, entries=held, held=held)

    async def release(self) -> None:
        self.released += 1


async def test_what_is_held_is_released_once_when_all_of_it_is() -> None:
    """Over two routers."""
    one, other = _Router([1, 2, 2]), _Router([1, 2, 0])
    releasing = Releasing(load=HELD, routers=[one, other], stalled_s=1_000)
    assert await releasing.look() == 2
    assert (one.released, other.released) == (0, 0)
    assert await releasing.look() == 4
    assert await releasing.look() == 2
    assert (one.released, other.released) == (1, 1)


async def test_nothing_is_released_before_anything_has_come() -> None:
    """However long that takes; but when some wait and no more come, the others will not."""
    router = _Router([0, 0, 3, 3])
    releasing = Releasing(load=HELD, routers=[router], stalled_s=-1)
    await releasing.look()
    await releasing.look()
    assert router.released == 0
    await releasing.look()
    await releasing.look()
    assert router.released == 1


async def test_an_engine_is_released_by_nobody() -> None:
    """It takes its time."""
    router = _Router([4])
    load = Load(in_flight=4, operations=4, service=Engine(capacity=1, seconds=1))
    assert await Releasing(load=load, routers=[router], stalled_s=-1).look() == 4
    assert router.released == 0


def test_the_places_of_an_engine_are_dealt_out() -> None:
    """All of them, and at least one to each router."""
    services = services_of(Engine(capacity=7, seconds=2), 3, 3)
    assert services == [Engine(capacity=n, seconds=2) for n in (3, 2, 2)]
    assert services_of(INSTANT, 2, 2) == [INSTANT, INSTANT]
    with pytest.raises(ValueError, match="capacity 1 behind 2 routers"):
        services_of(Engine(capacity=1, seconds=1), 2, 2)


def test_a_router_that_serves_more_instances_has_more_places() -> None:
    """As many for each instance, or those of one would wait beside free ones of another."""
    assert services_of(Engine(capacity=7, seconds=2), 2, 3) == [Engine(capacity=n, seconds=2) for n in (5, 2)]
