"""Ctrl-C, SIGTERM and SIGHUP: one meaning for all three. The first ends the work in good order, the second is told
that this takes a moment, and the third ends this process at once (then the reaper ends the subjects).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from retryproof.exits import Exit
from retryproof.output import say

if TYPE_CHECKING:  # asyncio takes a while to import, in which Ctrl-C is possible
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_S = 0.01  # by then what could not raise it is over


def take_over() -> None:
    """From now on each of them raises KeyboardInterrupt in the main thread; one that is ignored (nohup) stays so. Where
    it came at a place that raises nothing (a callback of the garbage collector: Hypothesis has one), it comes again.
    """
    sys.unraisablehook = _again
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def let_end() -> None:
    """From now on none of them does anything: all has been said and cleaned up, and the exit code is that of the work,
    also where one comes while the interpreter ends, which takes a moment.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


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


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _again(lost: sys.UnraisableHookArgs) -> None:
    if not isinstance(lost.exc_value, KeyboardInterrupt) or not lost.exc_value.args:
        sys.__unraisablehook__(lost)
        return
    from threading import Timer  # takes a while to import, in which Ctrl-C is possible

    again = Timer(_AGAIN_S, os.kill, (os.getpid(), lost.exc_value.args[0]))
    again.daemon = True
    again.start()
