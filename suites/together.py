"""Tasks side by side, of which the first that cannot go on ends all."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. Raises the first error of the first that fails, by itself, once all have ended.

    Where one of them answers an interruption with an error of its own, that error stands: what cleans up after it is
    not cancelled a second time. (Since Python 3.13 a TaskGroup cancels its task anew at its next await, which put
    CancelledError in the place of the error.)
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        ours = asyncio.current_task()
        while ours is not None and ours.uncancel():
            pass
        raise _first_of(errors) from None  # all met the same wall: one message is enough
    return [task.result() for task in tasks]


def _first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
