"""Tasks side by side: their results in order, one error rather than a group, and an interruption once."""

import asyncio

import pytest

from suites.together import together


class WallError(Exception):
    """What a work of these tests meets."""


async def _gives(value: int) -> int:
    return value


async def _fails() -> int:
    raise WallError


async def _answers(begun: asyncio.Event) -> int:
    """Waits, and answers an interruption with an error of its own."""
    begun.set()
    try:
        await asyncio.get_running_loop().create_future()
        return 0
    except asyncio.CancelledError:
        raise WallError from None


async def test_the_results_come_in_order() -> None:
    """Of none, of several."""
    assert await together(()) == []
    assert await together(map(_gives, range(3))) == [0, 1, 2]


async def test_one_error_comes_by_itself_and_the_others_have_ended() -> None:
    """No group, not even of groups."""
    waiting = asyncio.Event()
    with pytest.raises(WallError):
        await together([_answers(waiting), together([_fails()])])
    assert waiting.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_answers_an_interruption_is_cleaned_up_after_without_another_one() -> None:
    """The error stands, and what is awaited on its way out is awaited to its end; so it is one level further up."""
    begun, cleaned = asyncio.Event(), []

    async def work() -> None:
        try:
            await together([together([_answers(begun)])])
        finally:
            await asyncio.sleep(0)
            cleaned.append("to its end")

    task = asyncio.ensure_future(work())
    await begun.wait()
    task.cancel()
    with pytest.raises(WallError):
        await task
    assert cleaned == ["to its end"]


async def test_an_interruption_that_nobody_answers_goes_on() -> None:
    """As CancelledError."""
    begun = asyncio.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    task = asyncio.ensure_future(together([waits()]))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
