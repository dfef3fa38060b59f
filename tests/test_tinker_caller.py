"""A caller of the Tinker protocol in front of a server that answers from a script."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from fake_router.content import logprob_of, result_tokens
from faults.plan import PlannedOperation
from faults.vocabulary import Leaving
from suites.endpoint import Endpoint
from suites.history import Arrival, Kind, Outcome
from suites.leaving import Leave
from suites.tinker import wire
from suites.tinker.caller import TinkerCaller
from tests.mutants.proxy import framed
from tests.test_tinker_results import CLAIM, RESULT

NUMBER = 1001  # the operation in RESULT
CEILING_MS = 20_000
SESSION = framed(200, wire.JSON, b'{"session_id":"a","sampling_session_id":"b"}')
TAKEN = framed(200, wire.JSON, b'{"request_id":"7"}')
NOT_YET = framed(408, wire.JSON, b"{}")
LANDED = framed(200, wire.PROTOBUF, RESULT)


@dataclass(slots=True)
class Script:
    """The replies to submits, and to polls; None holds a poll until its caller has left it. asked: path and body of
    every request, in order.
    """

    submits: Sequence[bytes] = (TAKEN,)
    polls: Sequence[bytes | None] = (LANDED,)
    session: bytes = SESSION
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, body in self.asked if asked == path]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError), contextlib.closing(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            path, body = head.split(b" ", 2)[1].decode(), await reader.readexactly(int(length.partition(b":")[2]))
            self.asked.append((path, json.loads(body)))
            reply = self._reply(path)
            if reply is None:
                self.held.set()
                await reader.read(1)
            else:
                writer.write(reply)

    def _reply(self, path: str) -> bytes | None:
        if path == wire.ASAMPLE:
            return self.submits[min(len(self.bodies(path)), len(self.submits)) - 1]
        if path == wire.RETRIEVE_FUTURE:
            return self.polls[min(len(self.bodies(path)), len(self.polls)) - 1]
        return self.session


@contextlib.asynccontextmanager
async def calling(script: Script, *, again: bool = False) -> AsyncIterator[TinkerCaller]:
    server = await asyncio.start_server(script.answer, "127.0.0.1", 0)
    async with server:
        yield TinkerCaller(
            endpoint=Endpoint(address=server.sockets[0].getsockname()), not_executed=(CLAIM,), again=again
        )


async def called(script: Script, *, ceiling_ms: int = CEILING_MS, again: bool = False) -> Outcome:
    async with calling(script, again=again) as caller:
        return await caller.call(PlannedOperation(), NUMBER, ceiling_ms)


async def test_an_operation_is_submitted_and_polled_for_until_it_has_ended() -> None:
    """Through "not yet", errors of the server and a result that is too large to come unasked; all of it is kept."""
    size = framed(200, wire.JSON, b'{"status":"complete_metadata","response_payload_size":9}')
    script = Script(polls=(NOT_YET, framed(502, wire.JSON, b""), size, LANDED))
    outcome = await called(script)
    tokens = tuple(result_tokens(NUMBER, 1, 0))
    assert (outcome.kind, outcome.tokens, outcome.body) == (Kind.OK, tokens, RESULT)
    assert outcome.logprobs == tuple(map(logprob_of, tokens))
    assert [heard.says for heard in outcome.heard] == [
        "200 to a submit",
        *("408 to a poll", "502 to a poll", "200 to a poll", "200 to a poll"),
    ]
    polls = script.bodies(wire.RETRIEVE_FUTURE)
    assert [poll["allow_metadata_only"] for poll in polls] == [True, True, True, False]
    assert {poll["request_id"] for poll in polls} == {"7"}


async def test_a_session_is_made_once_and_every_operation_has_a_key_of_its_own() -> None:
    """Also where several begin together."""
    script = Script()
    async with calling(script) as caller:
        calls = [caller.call(PlannedOperation(), NUMBER + n, CEILING_MS) for n in range(3)]
        await asyncio.gather(*calls)
    assert len(script.bodies(wire.CREATE_SESSION)) == 1
    assert [body["session_id"] for body in script.bodies(wire.CREATE_SAMPLING_SESSION)] == ["a"]
    keys = [(body["sampling_session_id"], body["seq_id"]) for body in script.bodies(wire.ASAMPLE)]
    assert sorted(keys) == [("b", 0), ("b", 1), ("b", 2)]


@pytest.mark.parametrize("how", Leaving)
async def test_who_leaves_a_poll_comes_back_under_the_same_key(how: Leaving) -> None:
    """With the same submit, and polls for what that names."""
    script = Script(submits=(TAKEN, framed(200, wire.JSON, b'{"request_id":"8"}')), polls=(None, LANDED))
    leave = Leave(how=how)
    async with calling(script) as caller:
        call = asyncio.ensure_future(caller.call(PlannedOperation(leaves=how), NUMBER, CEILING_MS, leave))
        await script.held.wait()
        assert not leave.left.is_set()
        leave.told.set()
        outcome = await call
    assert (outcome.kind, outcome.left, outcome.came_back) == (Kind.OK, True, True)
    first, second = script.bodies(wire.ASAMPLE)
    assert first == second
    assert [poll["request_id"] for poll in script.bodies(wire.RETRIEVE_FUTURE)] == ["7", "8"]


async def test_a_result_that_is_promised_to_stay_is_asked_for_once_more() -> None:
    """What came of that is kept, and changes nothing of the outcome."""
    gone = framed(404, wire.JSON, b'{"error":"evicted"}')
    outcome = await called(Script(polls=(LANDED, gone)), again=True)
    assert outcome.kind is Kind.OK
    assert [(heard.poll, heard.status) for heard in outcome.heard] == [(False, 200), (True, 200), (True, 404)]


@pytest.mark.parametrize(
    ("script", "kind", "status", "says"),
    [
        (Script(session=framed(503, wire.JSON, b"{}")), Kind.UNKNOWN, 503, "no session_id: 503 with b'{}'"),
        (Script(session=framed(200, wire.JSON, b"[]")), Kind.UNKNOWN, 200, "no session_id: 200 with b'[]'"),
        (Script(submits=(framed(422, wire.JSON, b"no"),)), Kind.UNKNOWN, 422, "422 with b'no'"),
        (
            Script(polls=(framed(200, wire.JSON, b'{"error":"E","category":"server","executed":"no"}'),)),
            *(Kind.FAILED, 200, "E"),
        ),
        (Script(polls=(framed(404, wire.JSON, b"gone"),)), Kind.UNKNOWN, 404, "b'gone'"),
        (Script(polls=(framed(200, wire.JSON, b"<html>"),)), Kind.UNKNOWN, 200, "200 with b'<html>'"),
    ],
)
async def test_what_ends_an_operation_without_a_result_is_named(
    script: Script, kind: Kind, status: int, says: str
) -> None:
    """Nothing of it is asked for again."""
    outcome = await called(script, again=True)
    assert (outcome.kind, outcome.arrival, outcome.status, outcome.says) == (kind, Arrival.WHOLE, status, says)
    assert len(script.asked) == len({path for path, _ in script.asked})


async def test_a_connection_that_ends_in_place_of_an_answer_is_no_answer() -> None:
    """Of a poll; nobody polls again in a run in which nothing stands between caller and server."""
    outcome = await called(Script(polls=(b"",)))
    assert (outcome.kind, outcome.arrival) == (Kind.UNKNOWN, Arrival.NOTHING)


async def test_what_is_never_answered_hangs_at_the_ceiling() -> None:
    """Whether a poll is held, or told "not yet" for ever; what was heard is said."""
    held = await called(Script(polls=(None,)), ceiling_ms=50)
    assert (held.arrival, held.says) == (Arrival.HUNG, "no result within 50 ms; it heard 200 to a submit")
    never = await called(Script(polls=(NOT_YET,)), ceiling_ms=200)
    assert never.arrival is Arrival.HUNG
    assert never.says.endswith("408 to a poll")
