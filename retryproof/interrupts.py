"""Ctrl-C, SIGTERM and SIGHUP: one meaning for all three. The first ends the work in good order, the second is told
that this takes a moment, and the third ends this process at once (then the reaper ends the subjects).
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from retryproof.exits import Exit
from retryproof.output import say

if TYPE_CHECKING:  # asyncio takes a while to import, in which Ctrl-C is possible
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def take_over() -> None:
    """From now on each of them raises KeyboardInterrupt in the main thread; one that is ignored (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


@contextmanager
def cancelling(task: asyncio.Task[Any], leave: Callable[[], None]) -> Iterator[None]:
    """While inside, they cancel that task of the running loop, so that everything is written and cleaned up. `leave`
    is called where that is cut short.
    """
    loop = task.get_loop()
    heard = 0

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            loop.call_soon_threadsafe(task.cancel)
        elif heard == 2:
            say("cleaning up, which takes a few seconds at most; once more to leave at once")
        else:
            leave()
            os._exit(Exit.INTERRUPTED)

    ours = [number for number in SIGNALS if signal.getsignal(number) is _interrupt]
    for number in ours:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
