"""A client in Python as a subject: an async function, or a class whose instances have one, called in this process."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from faults.form import Api, Form
from faults.plan import PlannedOperation
from suites.callable_path import Loaded
from suites.history import Arrival, Kind, Outcome
from suites.in_process import SubjectThread
from suites.leaving import Leave
from suites.pulse import Pulse
from suites.returned import NOTHING, Returned, UnreadableError, read, words
from suites.sent import sent_content
from suites.subject import Address, SubjectError, SubjectSpec
from suites.workload import completion_request

CLIENTS = SubjectThread("clients")
CLOSING_S = 5.0

Call = Callable[[dict[str, Any]], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableSubject:
    """`module:callable`: a Subject."""

    loaded: Loaded

    @property
    def spec(self) -> SubjectSpec:
        """What its module says of it."""
        return self.loaded.spec

    async def start(self, upstreams: Sequence[Address]) -> "CallableInstance":
        """The function, told these URLs; or an instance of the class, made with them. Raises SubjectError."""
        urls = [f"http://{host}:{port}" for host, port in upstreams]
        loaded = self.loaded
        if not inspect.isclass(loaded.target):
            return CallableInstance(loaded=loaded, ask=lambda request: loaded.target(request, list(urls)))
        try:
            made = await CLIENTS.run(_made(loaded.target, urls))
            return CallableInstance(loaded=loaded, ask=made.call, close=getattr(made, "close", None))
        except Exception as error:
            raise SubjectError(f"{loaded.name}({urls!r}) raised {words(error)}; expected an instance") from error

    async def pulse(self) -> Pulse:
        """On the loop of all clients of this process."""
        return await CLIENTS.pulse()


async def _made(target: Callable[..., Any], urls: list[str]) -> Any:
    with _no_exit():
        return target(urls)


@dataclass(slots=True, kw_only=True)
class CallableInstance:
    """A client that is called: an Instance."""

    loaded: Loaded
    ask: Call
    close: Callable[[], object] | None = None
    _in_flight: set["asyncio.Task[Returned]"] = field(default_factory=set)

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One call; what it returns or raises is the outcome."""
        request = completion_request(number, planned.form, planned.body_bytes)
        sent = sent_content(request)  # before it is handed over: it is the client's then
        asked = self._asked(request, number, planned.form, ceiling_ms)
        return replace(await CLIENTS.outcome(asked, number, planned.form, ceiling_ms, leave), sent=sent)

    async def _asked(self, request: dict[str, Any], number: int, form: Form, ceiling_ms: int) -> Outcome:
        started = time.monotonic_ns()
        task = asyncio.ensure_future(_returned(self.ask, request, form.api))
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        try:
            done, _ = await asyncio.wait((task,), timeout=ceiling_ms / 1000)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
        kind, arrival, says, returned = self._seen(task) if done else _hung(ceiling_ms)
        return Outcome(
            operation=number,
            kind=kind,
            arrival=arrival,
            form=form,
            tokens=returned.tokens,
            text=returned.text,
            says=says,
            invoked_at_ns=started,
            ended_at_ns=time.monotonic_ns(),
        )

    def _seen(self, task: "asyncio.Task[Returned]") -> "_Seen":
        if task.cancelled():
            return Kind.UNKNOWN, Arrival.RETURNED, "it raised CancelledError", NOTHING
        match task.exception():
            case None:
                return Kind.OK, Arrival.RETURNED, "", task.result()
            case UnreadableError() as error:
                return Kind.UNKNOWN, Arrival.RETURNED, str(error), NOTHING
            case error:
                claims = isinstance(error, self.loaded.not_executed)
                return Kind.FAILED if claims else Kind.UNKNOWN, Arrival.RETURNED, words(error), NOTHING

    async def idle(self) -> bool | None:
        """No call is under way, where nothing is sent outside of calls; a module that gives `quiet_ms` says it is."""
        return None if self.loaded.spec.quiet_ms is not None else not self._in_flight

    def died(self) -> str | None:
        """It lives as long as this process."""
        return None

    async def stop(self) -> None:
        """End what is under way, and close it. Raises SubjectError where its `close` fails."""
        try:
            async with asyncio.timeout(CLOSING_S + 1):
                await CLIENTS.run(self._end())
        except TimeoutError:
            raise SubjectError(
                f"{self.loaded.name} holds up its event loop; expected a client that awaits (one that blocks: "
                "`await asyncio.to_thread(...)`)"
            ) from None

    async def _end(self) -> None:
        for task in tuple(self._in_flight):
            task.cancel()
        close, self.close = self.close, None
        if close is None:
            return
        try:
            async with asyncio.timeout(CLOSING_S):
                with _no_exit():
                    closing = close()
                    if inspect.isawaitable(closing):
                        await closing
        except Exception as error:
            raise SubjectError(f"close() of {self.loaded.name} failed: {words(error)}") from error


_Seen = tuple[Kind, Arrival, str, Returned]


def _hung(ceiling_ms: int) -> _Seen:
    return Kind.UNKNOWN, Arrival.HUNG, f"no answer within {ceiling_ms} ms", NOTHING


class ExitRaisedError(Exception):
    """The client would have ended its process."""


@contextmanager
def _no_exit() -> Iterator[None]:
    """SystemExit would end the loop of all clients. Raises ExitRaisedError in its place."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        raise ExitRaisedError(words(error)) from None


async def _returned(ask: Call, request: dict[str, Any], api: Api) -> Returned:
    """What it returns, read on its own loop: reading is its own code too."""
    with _no_exit():
        return read(await ask(request), api)
