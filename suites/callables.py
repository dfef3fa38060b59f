"""A client in Python as a subject: an async function, or a class whose instances have one, called in this process."""

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from faults.form import Api, Form
from faults.plan import PlannedOperation
from suites.callable_path import Loaded
from suites.history import Arrival, Kind, Outcome
from suites.in_process import SubjectThread
from suites.leaving import Leave
from suites.pulse import Pulse
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
        except Exception as error:
            raise SubjectError(f"{loaded.name}({urls!r}) raised {error!r}; expected an instance") from error
        return CallableInstance(loaded=loaded, ask=made.call, close=getattr(made, "close", None))

    async def pulse(self) -> Pulse:
        """On the loop of all clients of this process."""
        return await CLIENTS.pulse()


async def _made(target: Callable[..., Any], urls: list[str]) -> Any:
    return target(urls)


@dataclass(slots=True, kw_only=True)
class CallableInstance:
    """A client that is called: an Instance."""

    loaded: Loaded
    ask: Call
    close: Callable[[], object] | None = None
    _in_flight: set["asyncio.Task[Any]"] = field(default_factory=set)

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
        task = asyncio.ensure_future(_returned(self.ask, request))
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        try:
            done, _ = await asyncio.wait((task,), timeout=ceiling_ms / 1000)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
        kind, arrival, says, value = self._seen(task, ceiling_ms) if done else _hung(ceiling_ms)
        tokens, text = _result(value, form.api)
        return Outcome(
            operation=number,
            kind=kind,
            arrival=arrival,
            form=form,
            tokens=tokens,
            text=text,
            says=says,
            invoked_at_ns=started,
            ended_at_ns=time.monotonic_ns(),
        )

    def _seen(self, task: "asyncio.Task[object]", ceiling_ms: int) -> "_Seen":
        if task.cancelled():
            return Kind.UNKNOWN, Arrival.RETURNED, "it raised CancelledError", None
        error = task.exception()
        if error is None:
            return Kind.OK, Arrival.RETURNED, "", task.result()
        claims = isinstance(error, self.loaded.not_executed)
        return Kind.FAILED if claims else Kind.UNKNOWN, Arrival.RETURNED, f"{type(error).__name__}: {error}", None

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
                closing = close()
                if inspect.isawaitable(closing):
                    await closing
        except Exception as error:
            raise SubjectError(f"close() of {self.loaded.name} failed: {error!r}") from error


_Seen = tuple[Kind, Arrival, str, object]


def _hung(ceiling_ms: int) -> _Seen:
    return Kind.UNKNOWN, Arrival.HUNG, f"no answer within {ceiling_ms} ms", None


class ExitRaisedError(Exception):
    """The client would have ended its process."""


async def _returned(ask: Call, request: dict[str, Any]) -> object:
    """What it returns; SystemExit would end the loop instead of the call."""
    try:
        return await ask(request)
    except (SystemExit, KeyboardInterrupt) as error:
        raise ExitRaisedError(repr(error)) from None


def _result(value: object, api: Api) -> tuple[tuple[int, ...] | None, str | None]:
    """Tokens and text of the first choice in what was returned; None for what is no completion."""
    data = _as_data(value)
    match data:
        case {"choices": [{"token_ids": [*tokens], "text": str(text)}, *_]} if api is Api.COMPLETIONS:
            return tuple(tokens), text
        case {"choices": [{"token_ids": [*tokens], "message": {"content": str(text)}}, *_]} if api is Api.CHAT:
            return tuple(tokens), text
        case _:
            return None, None


def _as_data(value: object) -> object:
    """A dict as it is, bytes or a text as JSON, and an object of a client library by its `model_dump`."""
    if isinstance(value, bytes | str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value
