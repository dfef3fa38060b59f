"""Routers on a thread of their own, so that no forwarder under test shares a loop with its router."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any, Self, TypeVar, overload

import uvloop

from fake_router.server import Router

T = TypeVar("T")

_Settle = Callable[[Any], None]  # a name, for what a nested function says of itself is computed at every call


class RouterThread:
    """A uvloop loop in a daemon thread, on which any number of routers live.

    `run` is for callers without a loop, `call` for callers on another loop; both run a function, or await a
    coroutine function, on the thread's loop, and return or raise what it does.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="fake-router", daemon=True)
        self._routers: list[Router] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @overload
    def run(self, function: Callable[..., Awaitable[T]], /, *args: Any, **kwargs: Any) -> T: ...
    @overload
    def run(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T: ...
    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run it there, and block until it is done. Must not be called on the thread's own loop."""
        result: Future[Any] = Future()

        def there() -> None:
            self._start(function, args, kwargs, result.set_result, result.set_exception)

        self._loop.call_soon_threadsafe(there)
        return result.result()

    @overload
    async def call(self, function: Callable[..., Awaitable[T]], /, *args: Any, **kwargs: Any) -> T: ...
    @overload
    async def call(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T: ...
    async def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run it there while the caller's loop goes on. When the caller is cancelled, so is what it waits for."""
        home = asyncio.get_running_loop()
        result: asyncio.Future[Any] = home.create_future()
        task: asyncio.Task[Any] | None = None

        def back(settle: _Settle, value: Any) -> None:
            if not result.done():
                settle(value)

        def bring(settle: _Settle) -> _Settle:
            def bring_back(value: Any) -> None:
                with contextlib.suppress(RuntimeError):  # the caller's loop has been closed
                    home.call_soon_threadsafe(back, settle, value)

            return bring_back

        def there() -> None:
            nonlocal task
            task = self._start(function, args, kwargs, bring(result.set_result), bring(result.set_exception))

        self._loop.call_soon_threadsafe(there)
        try:
            return await result
        except asyncio.CancelledError:
            self._loop.call_soon_threadsafe(lambda: task and task.cancel())
            raise

    async def start_router(self, **options: Any) -> Router:
        """A started Router on this thread, closed at the latest when the thread ends."""
        router = Router(**options)
        await self.call(router.start)
        self._routers.append(router)
        return router

    async def close_router(self, router: Router) -> None:
        """Close a router that `start_router` gave."""
        self._routers.remove(router)
        await self.call(router.close)

    def _start(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        done: _Settle,
        failed: _Settle,
    ) -> asyncio.Task[Any] | None:
        """On the thread's loop: run the function; a task only where it has to wait."""
        try:
            value = function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001  it belongs to the caller, who raises it
            failed(error)
            return None
        if not isawaitable(value):
            done(value)
            return None
        # A coroutine as it is: of one wrapped in another, cancelling before the first step leaves the inner unawaited.
        task = self._loop.create_task(value if isinstance(value, Coroutine) else _await(value))
        task.add_done_callback(lambda task: _settle(task, done, failed))
        return task

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    async def _end(self) -> None:
        for router in self._routers:
            await router.close()
        me = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not me]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def _await(value: Awaitable[T]) -> T:
    return await value


def _settle(task: asyncio.Task[Any], done: _Settle, failed: _Settle) -> None:
    if task.cancelled():
        failed(asyncio.CancelledError())
    elif (error := task.exception()) is not None:
        failed(error)
    else:
        done(task.result())
