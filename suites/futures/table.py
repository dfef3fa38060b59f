"""What drawn scripts are played at: a theatre on its loop, asked from another thread."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from suites.futures.host import Powers
from suites.futures.played import Played
from suites.futures.theatre import Theatre

T = TypeVar("T")

SHRINK_S = 15.0  # how long a script that broke a must is made smaller


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the machine plays at: the theatre, on its loop, which is not that of the caller's thread."""

    theatre: Theatre
    loop: asyncio.AbstractEventLoop
    powers: Powers
    played: Played

    @property
    def is_shrunk(self) -> bool:
        """A must is broken, and the time for making its script smaller is over: nothing more is lived through."""
        return self.played.failed_s is not None and time.monotonic() > self.played.failed_s + SHRINK_S

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Do it there, and wait for it. Raises KeyboardInterrupt, which Hypothesis lets pass, once it is to stop."""
        if self.played.stopped:
            doing.close()
            raise KeyboardInterrupt
        return asyncio.run_coroutine_threadsafe(doing, self.loop).result()
