"""Servers of futures that are wrong on purpose: the server itself, with one thing of it replaced. Each is started as
`python -m tests.futures_mutants NAME` with the same flags as `python -m forwarder`.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

import forwarder.api.retrieve_api as retrieve
import forwarder.server
from forwarder.__main__ import main
from forwarder.api.background import Forwards
from forwarder.api.delivery import Delivery, NoResult, Polls
from forwarder.api.service import Service
from forwarder.futures.future import DueQueue
from forwarder.futures.outcome import Failed, Gone, Outcome, Sampled
from forwarder.futures.shelf import Shelf
from forwarder.futures.store import Futures
from forwarder.futures.waiters import Waiters
from tests.futures_store_mutants import (
    breaks_down_at_its_end,
    evicts_what_nobody_got,
    forgets_what_it_took,
    ids_without_identity,
    never_refuses,
    new_future_on_resubmit,
    replace,
    resubmit_after_eviction_runs_again,
    runs_again_what_was_lost,
)


def marks_retrieved_on_write() -> None:
    """What is written to a caller counts as delivered, whether or not the caller has left."""

    original = Polls._waited

    async def waited(self: Polls, request_id: str, _: Receive) -> Sampled | Failed | Gone | NoResult:
        return await original(self, request_id, _nothing_comes)

    async def sent(self: Delivery, scope: Scope, receive: Receive, send: Send) -> None:
        self._ended(True)
        await Response.__call__(self, scope, receive, send)

    replace(Polls, "_waited", waited)
    replace(Delivery, "__call__", sent)


def one_waiter_per_id() -> None:
    """Whoever comes last takes the place of all others."""
    wait = Waiters.wait

    async def alone(self: Waiters[Any]) -> Any:
        self._places.clear()
        return await wait(self)

    replace(Waiters, "wait", alone)


def ttl_from_completion() -> None:
    """The short TTL starts when the result lands."""
    made = Shelf.__init__

    def shorter(self: Shelf, ttl: Any, *others: Any) -> None:
        made(self, ttl, *others)
        self.undelivered = DueQueue(ttl.retrieved_ms)

    replace(Shelf, "__init__", shorter)


def ttl_at_an_abandoned_poll() -> None:
    """A poll that was abandoned counts as a delivery once the result has landed."""
    result, resolve = Polls.result, Futures.resolve
    abandoned: set[str] = set()

    async def noted(self: Polls, request_id: str, receive: Receive) -> Any:
        found = await result(self, request_id, receive)
        if found is NoResult.LEFT:
            abandoned.add(request_id)
        return found

    async def delivered(self: Futures, request_id: str, outcome: Outcome) -> None:
        await resolve(self, request_id, outcome)
        if request_id in abandoned:
            self.possibly_delivered(request_id)

    replace(Polls, "result", noted)
    replace(Futures, "resolve", delivered)


def forgets_pollers_at_shutdown() -> None:
    """Nothing is resolved once it ends."""
    resolve = Futures.resolve

    async def only_before(self: Futures, request_id: str, outcome: Outcome) -> None:
        if not self._submits.closed:
            await resolve(self, request_id, outcome)

    async def shut_down(self: Futures, says: object) -> None:
        del says
        self.accept_nothing_more()
        await self._journal.close()
        self._sweeper.stop()

    replace(Futures, "resolve", only_before)
    replace(Futures, "shut_down", shut_down)
    replace(forwarder.server, "LAST_ANSWERS_S", 0)


def encodes_per_poll_with_other_bytes() -> None:
    """Every answer has a field of its own, which readers pass over."""
    delivery, number = retrieve._delivery, count(1)

    def encoded(service: Service, request: Any, request_id: str, outcome: Sampled | Failed) -> Response:
        if isinstance(outcome, Sampled):
            outcome = Sampled(outcome.payload + bytes((5 << 3, next(number) % 128)))
        return delivery(service, request, request_id, outcome)

    replace(retrieve, "_delivery", encoded)


def an_evicted_id_answers_empty() -> None:
    """What is gone is a success without content."""
    replace(retrieve, "refusal", lambda status, kind, says: Response(b"", 200))


def an_evicted_id_answers_410() -> None:
    """What is gone is answered 410, on which the SDK samples again."""
    replace(retrieve, "refusal", lambda status, kind, says: Response(says, 410))


def holds_for_ever() -> None:
    """A poll waits for its result alone."""
    made = Polls.__init__

    def patient(self: Polls, *parts: Any, hold_ms: int) -> None:
        made(self, *parts, hold_ms=hold_ms * 1_000)

    replace(Polls, "__init__", patient)


def forgets_to_forward() -> None:
    """What it has taken is never sent to the router."""
    replace(Forwards, "start", lambda self, request_id, request: None)


async def _nothing_comes() -> Message:
    never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await never


FIRST_TEN = (
    marks_retrieved_on_write,
    one_waiter_per_id,
    ttl_from_completion,
    ttl_at_an_abandoned_poll,
    new_future_on_resubmit,
    resubmit_after_eviction_runs_again,
    ids_without_identity,
    forgets_pollers_at_shutdown,
    encodes_per_poll_with_other_bytes,
    an_evicted_id_answers_empty,
)
MORE = (
    an_evicted_id_answers_410,
    holds_for_ever,
    forgets_what_it_took,
    never_refuses,
    evicts_what_nobody_got,
    breaks_down_at_its_end,
    runs_again_what_was_lost,
    forgets_to_forward,
)
MUTANTS: Mapping[str, Callable[[], None]] = {each.__name__.replace("_", "-"): each for each in (*FIRST_TEN, *MORE)}

if __name__ == "__main__":
    MUTANTS[sys.argv[1]]()
    sys.exit(main(sys.argv[2:]))
