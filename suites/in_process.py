"""Subjects that live in this process: the loop on which they run, and a call of one with a caller that may leave."""

import asyncio
import threading
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import uvloop

from faults.form import Form
from suites.history import Arrival, Kind, Outcome
from suites.leaving import Leave, until_told
from suites.pulse import Pulse

_OVER = "the handler is closed"  # how uvloop ends the message of what is done with a transport that is closed

BLOCKED_MS = 1_000  # how much longer than its ceiling a call may take that holds up its own loop


class SubjectThread:
    """An event loop on a daemon thread, shared by all instances of this process; it is started when first used."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = uvloop.new_event_loop()
                self._loop.set_exception_handler(_say)
                threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True).start()
            return self._loop

    async def run(self, there: Coroutine[Any, Any, Any]) -> Any:
        """What the coroutine returns or raises, on that loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there, self.loop()))

    async def pulse(self) -> Pulse:
        """A pulse on that loop."""
        pulse = await self.run(_pulse())
        assert isinstance(pulse, Pulse)
        return pulse

    async def outcome(
        self, asked: Coroutine[Any, Any, Outcome], number: int, form: Form, ceiling_ms: int, leave: Leave | None
    ) -> Outcome:
        """The outcome of a call on that loop, which ends by itself at the ceiling. Its caller leaves by cancelling it.

        A call that holds up the loop, so that it cannot end, hangs all the same.
        """
        started = time.monotonic_ns()
        call = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, self.loop()))
        try:
            async with asyncio.timeout((ceiling_ms + BLOCKED_MS) / 1000):
                outcome = await (call if leave is None else until_told(call, leave))
        except TimeoutError:
            says = f"no answer within {ceiling_ms} ms, and its loop stands"
            return _left_open(number, form, Arrival.HUNG, says, started)
        if outcome is not None:
            return outcome
        assert leave is not None
        leave.left.set()
        return replace(_left_open(number, form, Arrival.LEFT, leave.says, started), left=True)


def _left_open(number: int, form: Form, arrival: Arrival, says: str, started: int) -> Outcome:
    return Outcome(
        operation=number,
        kind=Kind.UNKNOWN,
        arrival=arrival,
        form=form,
        says=says,
        invoked_at_ns=started,
        ended_at_ns=time.monotonic_ns(),
    )


def _say(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio does, but for a connection that is over: uvloop 0.23 goes on reading TLS that came before its end,
    and finds that it cannot answer any more.
    """
    if not (isinstance(context.get("exception"), RuntimeError) and str(context["exception"]).endswith(_OVER)):
        loop.default_exception_handler(context)


async def _pulse() -> Pulse:
    return Pulse()
