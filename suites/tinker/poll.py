"""Submits and polls of one server: asked and answered, or left open for their caller to leave."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from suites.endpoint import Endpoint
from suites.reading import Reply
from suites.request import Request
from suites.tinker import wire
from suites.tinker.answers import PollAnswer, SubmitAnswer, poll_answer, submit_answer
from suites.tinker.open_call import Departure, OpenCall, open_call


@dataclass(slots=True, kw_only=True)
class Poll:
    """One poll of a future, written and not answered yet. Use it as a context manager, or close it."""

    request_id: str
    call: OpenCall

    async def answer(self, within_ms: int) -> PollAnswer | None:
        """Its answer; None where it has not come within that time: it may be asked for again."""
        reply = await self.call.reply(within_ms)
        return None if reply is None else poll_answer(reply)

    async def arrived(self, within_ms: int) -> bool:
        """The whole answer lies in the receive buffer, unread (see OpenCall.arrived)."""
        return await self.call.arrived(within_ms)

    def leave(self, how: Departure) -> None:
        """Its caller leaves it now (see OpenCall.leave)."""
        self.call.leave(how)

    def close(self) -> None:
        """It is over. Safe to call twice."""
        self.call.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def open_poll(
    endpoint: Endpoint, request_id: str, *, iteration: int = 0, metadata_only: bool = True, accept: str = wire.PROTOBUF
) -> Poll:
    """A poll that has been written. Never raises for what the server does."""
    request = wire.retrieve_future(
        request_id,
        iteration=iteration,
        metadata_only=metadata_only,
        accept=accept,
        path=endpoint.path,
        headers=endpoint.headers,
    )
    return Poll(request_id=request_id, call=await open_call(endpoint, request))


async def open_submit(endpoint: Endpoint, sampling: wire.Sampling) -> OpenCall:
    """A submit that has been written; one that is left before its reply is read has lost it."""
    return await open_call(endpoint, sampling.request(endpoint.path, endpoint.headers))


async def submit(endpoint: Endpoint, sampling: wire.Sampling, *, within_ms: int) -> SubmitAnswer | None:
    """Sent once, and its answer; None where none has come within that time."""
    with await open_submit(endpoint, sampling) as call:
        reply = await call.reply(within_ms)
        return None if reply is None else submit_answer(reply)


async def ask(endpoint: Endpoint, request: Request, *, within_ms: int) -> Reply | None:
    """Any other request, and its reply."""
    with await open_call(endpoint, request) as call:
        return await call.reply(within_ms)
