"""When a step of a script is over: behind a proxy not before the server has counted what was sent to it."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from suites.futures.control import Quiet
from suites.futures.notes import Notes
from suites.futures.offer import Terms
from suites.futures.quiescence import Quiescence
from suites.futures.record import Answer, Asked, Counted, Kind, Submitted


def _quiet(waiting: dict[str, int]) -> Quiet:
    return Quiet(now_ms=0, waiting=waiting, in_flight=1, undelivered=0, delivered=0, evicted=0)


def _counted(terms: Terms, says: list[Quiet]) -> list[dict[str, int]]:
    """Of a server that says this, one after the other, and then the last for ever: how many waited for each id by its
    last word of the step. One poll is there, of an operation that the router holds.
    """
    notes = Notes(terms=terms, now_ms=0, step=0)
    taken = Answer(kind=Kind.TAKEN, status=200, request_id="one")
    notes.saw(Submitted, operation=0, session=0, number=7, answer=taken)
    notes.saw(Asked, poll=0, operation=0, request_id="one")

    async def settle() -> Quiet:
        return says.pop(0) if len(says) > 1 else says[0]

    async def arrived(_ms: int) -> bool:
        return False

    host: Any = SimpleNamespace(control=SimpleNamespace(settle=settle))
    gates: Any = SimpleNamespace(held=lambda: {7}, received={7})
    calls: Any = SimpleNamespace(numbers=[7], polls={0: SimpleNamespace(arrived=arrived)})
    asyncio.run(Quiescence(host, gates, calls, notes).reached())
    return [fact.waiting for fact in notes.facts if isinstance(fact, Counted)]


@pytest.mark.parametrize("late", [{}, {"one": 2}])
def test_behind_a_proxy_a_step_waits_until_the_server_counts_as_many_polls_as_there_are(late: dict[str, int]) -> None:
    """One that is on its way, or the end of one that has left."""
    says = [_quiet(late), _quiet(late), _quiet({"one": 1})]
    assert _counted(Terms(direct=False), says) == [{"one": 1}]


def test_with_nothing_between_its_first_word_counts() -> None:
    """It has seen all that was sent to it."""
    assert _counted(Terms(direct=True), [_quiet({}), _quiet({"one": 1})]) == [{}]


def test_a_poll_that_never_comes_is_waited_for_within_bounds() -> None:
    """Who has vanished on the way is told as what the server says of it."""
    assert _counted(Terms(direct=False), [_quiet({})]) == [{}]
