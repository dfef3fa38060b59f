"""Calls that may block, on daemon threads, which neither an event loop nor the end of us waits for."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

IDLE_S = 1.0  # how long a thread that has done its work waits for more

_Tell = Callable[[], None]  # the loop what came of it
_Job = Callable[[R], _Tell]


async def on_a_thread(work: Callable[[], T]) -> T:
    """What `work` returns or raises, on a thread of its own. Who is cancelled meanwhile leaves it behind: its result
    reaches nobody.

    asyncio.to_thread would not do: its threads are waited for when the loop ends, also those that hang.
    """
    done, job = _told_to_the_loop(lambda _: work())
    threading.Thread(target=lambda: job(None)(), name="retryproof-aside", daemon=True).start()
    return await done


class SideThreads(Generic[R]):
    """The same for many short calls: each has a thread to itself, which does another when it is done. Each thread has
    something of its own, as long as it lives: a client that keeps its connections, say.
    """

    def __init__(self, own: Callable[[], AbstractContextManager[R]]) -> None:
        self._own = own
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Job[R]]] = []

    async def call(self, work: Callable[[R], T]) -> T:
        """What `work` returns or raises, as `on_a_thread`."""
        done, job = _told_to_the_loop(work)
        with self._lock:
            orders = self._idle.pop() if self._idle else None
        if orders is None:
            orders = SimpleQueue()
            threading.Thread(target=self._live, args=(orders,), name="retryproof-aside", daemon=True).start()
        orders.put(job)
        return await done

    def _live(self, orders: "SimpleQueue[_Job[R]]") -> None:
        with self._own() as own:
            while (job := self._next(orders)) is not None:
                tell = job(own)
                with self._lock:
                    self._idle.append(orders)  # first: who is told may call again at once
                tell()

    def _next(self, orders: "SimpleQueue[_Job[R]]") -> "_Job[R] | None":
        """None when nobody has wanted anything for a while."""
        with suppress(Empty):
            return orders.get(timeout=IDLE_S)
        with self._lock:
            if orders in self._idle:
                self._idle.remove(orders)
                return None
        return orders.get()  # it was chosen at the last moment


def _told_to_the_loop(work: Callable[[R], T]) -> "tuple[asyncio.Future[T], _Job[R]]":
    """What is awaited on this loop, and what is to be called on another thread for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # None is a T where `work` returned it

    def job(own: R) -> _Tell:
        result, raised = None, None
        try:
            result = work(own)
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            raised = error

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(settle, result, raised)

        return tell

    return done, job
