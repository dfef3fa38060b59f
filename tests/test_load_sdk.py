"""A caller shaped like the SDK, against a server that answers as it is told to."""

import asyncio
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suites.load.ended import Ended, Told
from suites.load.line import Gate, Line
from suites.load.order import Claim
from suites.load.progress import Count, Progress
from suites.load.sdk import NoSessionError, SdkCaller, kind_of

NUMBER = 5
LOST = b""  # the connection is ended in place of an answer


def _answer(body: bytes, status: str = "200 OK", media: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _said(status: str = "200 OK", **fields: object) -> bytes:
    return _answer(json.dumps(fields).encode(), status)


def _result(number: int) -> bytes:
    """A SampleResponse of one sequence, which is that operation's."""
    sequence = b"\x12\x10" + struct.pack("<4i", 31337, number, 9, 0)
    return _answer(bytes([0x0A, len(sequence)]) + sequence, media="application/x-protobuf")


TAKEN, NOT_YET = _said(request_id="77"), _said("408 Request Timeout", type="try_again")


@dataclass(slots=True, kw_only=True)
class _Server:
    """Its answers to submits and to polls, in order; what it was asked."""

    submits: list[bytes]
    session: bytes = field(default_factory=lambda: _said(session_id="s"))
    polls: list[bytes] = field(default_factory=list)
    tasks: "list[asyncio.Task[Any]]" = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.append(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.partition("Content-Length: ")[2].partition("\r\n")[0])
                path = head.split()[1].rpartition("/")[2]
                self.asked.append((path, json.loads(await reader.readexactly(length))))
                answer = self._answer_to(path)
                writer.write(answer)
                if answer == LOST:
                    break
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    def _answer_to(self, path: str) -> bytes:
        match path:
            case "create_session":
                return self.session
            case "create_sampling_session":
                return _said(sampling_session_id="s:0")
            case "asample":
                return self.submits.pop(0)
            case _:
                return self.polls.pop(0)


async def _called(server: _Server, folder: Path, leave_every: int = 0) -> tuple[Told, dict[Count, int]]:
    """One operation."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listening:
        with Progress(folder, made=True) as progress:
            gate = Gate(listening.sockets[0].getsockname()[:2], 1, progress)
            caller = SdkCaller(
                [gate],
                progress,
                headers={},
                not_executed=[Claim(status=429, body="full"), Claim(status=200, body='"executed": "no"')],
                give_up_s=30,
                patience_s=30,
                leave_every=leave_every,
                pause_s=0,
            )
            line = Line(gate, "", progress)
            try:
                await caller.begin()
                return await caller.operation(line, 0, NUMBER), progress.read()
            finally:
                line.close()
                caller.close()
                await asyncio.gather(*server.tasks)


async def test_it_submits_and_polls_until_there_is_a_result(tmp_path: Path) -> None:
    """Over one connection."""
    server = _Server(submits=[TAKEN], polls=[NOT_YET, _result(NUMBER)])
    told, counts = await _called(server, tmp_path)
    assert told.ended is Ended.OK
    (_, submit), (_, first), (_, second) = server.asked[2:]
    assert submit["prompt"] == {"chunks": [{"tokens": [31337, NUMBER], "type": "encoded_text"}]}
    assert first == second == {"request_id": "77", "allow_metadata_only": False}
    assert counts[Count.CONNECTS] == 2  # one of them made the session


@pytest.mark.parametrize("lost", [LOST, _said("503 Service Unavailable"), _said("429 Too Many Requests")])
async def test_a_submit_that_may_be_lost_is_sent_again_under_the_same_key(lost: bytes, tmp_path: Path) -> None:
    """Or one for which there was no room."""
    server = _Server(submits=[lost, TAKEN], polls=[_result(NUMBER)])
    told, counts = await _called(server, tmp_path)
    assert told.ended is Ended.OK
    first, again = (body for path, body in server.asked if path == "asample")
    assert first == again
    assert counts[Count.RESENT] == 1


@pytest.mark.parametrize(
    ("submit", "ended", "why"),
    [
        (_said("503 Service Unavailable"), Ended.UNKNOWN, "status 503"),
        (_said("429 Too Many Requests", error="full"), Ended.NOT_EXECUTED, "status 429"),
        (LOST, Ended.NO_ANSWER, "its connection was ended before its answer"),
    ],
)
async def test_a_submit_that_is_refused_until_its_time_is_over_has_its_answer(
    submit: bytes, ended: Ended, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what it was told the last time; only what was lost every time had none."""
    times = iter((0, 0, 31))  # its deadline, its first submit, and no second one
    monkeypatch.setattr("suites.load.sdk.time", SimpleNamespace(monotonic=times.__next__))
    told, _ = await _called(_Server(submits=[submit]), tmp_path)
    assert (told.ended, told.why) == (ended, why)


async def test_a_poll_that_is_lost_or_abandoned_is_repeated(tmp_path: Path) -> None:
    """The first one it leaves as soon as it is written."""
    server = _Server(submits=[TAKEN], polls=[_result(NUMBER), LOST, _result(NUMBER)])
    told, counts = await _called(server, tmp_path, leave_every=NUMBER)
    assert told.ended is Ended.OK
    assert (counts[Count.POLLS], counts[Count.ABANDONED], counts[Count.BROKEN]) == (3, 1, 1)


@pytest.mark.parametrize(
    ("submits", "polls", "ended", "why"),
    [
        ([_said("400 Bad Request")], [], Ended.UNKNOWN, "status 400"),
        ([TAKEN], [_result(6)], Ended.GARBAGE, "a result that is not its operation's"),
        ([TAKEN], [_said("404 Not Found")], Ended.UNKNOWN, "its future is gone (404)"),
        ([TAKEN], [_said(hello=1)], Ended.GARBAGE, "poll: status 200"),
        (
            [TAKEN],
            [_said(error="no answer from 127.0.0.1:80 in 9.5 s", category="server", executed="no")],
            Ended.NOT_EXECUTED,
            "failed: no answer from N in N s",
        ),
        ([TAKEN], [_said(error="reset", category="server", executed="unknown")], Ended.UNKNOWN, "failed: reset"),
    ],
)
async def test_what_it_believes_of_how_an_operation_ended(
    submits: list[bytes], polls: list[bytes], ended: Ended, why: str, tmp_path: Path
) -> None:
    """What a failure claims is in its words."""
    told, _ = await _called(_Server(submits=submits, polls=polls), tmp_path)
    assert (told.ended, told.why) == (ended, why)


async def test_a_server_without_sessions_is_none_of_the_protocol(tmp_path: Path) -> None:
    """What it answers is said."""
    with pytest.raises(NoSessionError, match="gave no session_id: 404 with"):
        await _called(_Server(submits=[], session=_said("404 Not Found", error="what?")), tmp_path)


def test_failures_of_one_kind_are_called_the_same() -> None:
    """Whatever numbers and addresses they name."""
    assert kind_of("no answer from 10.0.0.1:80") == kind_of("no answer from 10.0.0.2:8080")
