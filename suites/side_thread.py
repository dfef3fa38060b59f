"""Calls that may block, each on a daemon thread of its own, which neither an event loop nor the end of us waits for."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def on_a_thread(work: Callable[[], T]) -> T:
    """What `work` returns or raises. Who is cancelled meanwhile leaves it behind: its result reaches nobody.

    asyncio.to_thread would not do: its threads are waited for when the loop ends, also those that hang.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # None is a T where `work` returned it

    def run() -> None:
        result, raised = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            raised = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, result, raised)

    threading.Thread(target=run, name="retryproof-aside", daemon=True).start()
    return await done
