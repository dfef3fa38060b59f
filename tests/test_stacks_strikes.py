"""What is done to the containers of a stack is done to each that is meant, and is so only if each of them is struck."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from faults.disturbance import Disturbing, Whose
from suites.stacks.state import State
from suites.stacks.strikes import Strikes

if TYPE_CHECKING:
    from suites.stacks.container import Contained  # which needs the SDK of Docker


class _Container:
    """One that can be paused; lasts: it stays so."""

    def __init__(self, at_ns: int = 0, *, lasts: bool = True) -> None:
        self.at_ns, self.lasts = at_ns, lasts
        self._state = State(status="running", running=True)

    def state(self) -> State:
        return self._state

    def disturb(self, how: Disturbing) -> int:
        assert how is Disturbing.PAUSE
        self._state = replace(self._state, paused=self.lasts)
        return self.at_ns

    def calm(self) -> None:
        self._state = replace(self._state, paused=False)


def strikes(**containers: list[_Container]) -> Strikes:
    """Of one instance, by whose they are."""
    made = Strikes()
    made.containers = {Whose(whose): cast("list[Contained]", those) for whose, those in containers.items()}
    return made


async def test_each_worker_is_struck_and_it_is_so_since_the_last_was() -> None:
    """Nobody else is; and each of them is as it was afterwards."""
    router, workers = _Container(), [_Container(3), _Container(9), _Container(5)]
    made = strikes(router=[router], worker=workers)
    assert not await made.lasts(Disturbing.PAUSE)
    assert await made.begin(Disturbing.PAUSE, Whose.WORKER) == 9
    assert await made.lasts(Disturbing.PAUSE)
    assert ([each.state().paused for each in workers], router.state().paused) == ([True] * 3, False)
    assert not made.ends_forwarder
    await made.end()
    assert not any(each.state().paused for each in workers)


@pytest.mark.parametrize("place", range(3))
async def test_one_that_is_not_struck_is_one_too_many(place: int) -> None:
    """The forwarder may have been served there."""
    made = strikes(worker=[_Container(lasts=n != place) for n in range(3)])
    await made.begin(Disturbing.PAUSE, Whose.WORKER)
    assert not await made.lasts(Disturbing.PAUSE)


async def test_where_there_is_no_such_container_that_is_said() -> None:
    """Nobody is struck."""
    router = _Container()
    with pytest.raises(ValueError, match="container of the worker was to be struck"):
        await strikes(router=[router]).begin(Disturbing.PAUSE, Whose.WORKER)
    assert not router.state().paused
