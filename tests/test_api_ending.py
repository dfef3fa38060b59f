"""How the server process ends: nothing waits for ever, and every future and every poller gets its answer."""

import asyncio
import os
from pathlib import Path

import pytest

from forwarder import Forwarder
from tests.api_server import SAMPLE, SAMPLED, Call, Process, Serving, request, running, serving
from tests.raw_router import SILENCE, Act, RawRouter, reply


async def _refusing(server: Process) -> None:
    """Wait until it takes nothing new any more."""
    while (await server.post("create_session", {})).status != 503:
        pass


async def test_what_is_in_flight_may_end_within_the_drain_and_meanwhile_only_polls_are_taken() -> None:
    """New submits, sessions and completions are refused as not executed; a new poll gets the result, and it ends."""
    gate = asyncio.Event()
    async with RawRouter([Act(sends=SAMPLED, gate=gate)]) as router, running("--router", router.url) as server:
        sampling = await server.session()
        request_id = await server.submit(sampling)
        waiting = await server.poll(request_id)
        await router.until(1)
        server.signal()
        await _refusing(server)
        refused = await server.post("asample", {**SAMPLE, "sampling_session_id": sampling, "seq_id": 1})
        assert (refused.status, refused.json["error"]["executed"]) == (503, "no")
        assert await server.submit(sampling) == request_id, "what was accepted before is answered as before"
        refused = await server.post("/v1/completions", {"prompt": [1]})
        assert (refused.status, refused.json["error"]["type"]) == (503, "not_executed")
        late = await server.poll(request_id)
        assert (await server.get("/healthz")).json == {"in_flight": 1}
        gate.set()
        assert [(await poll.answer()).status for poll in (waiting, late)] == [200, 200]
        assert await server.ended() == 0
        assert router.requests == 1


async def test_a_second_signal_ends_what_is_in_flight_and_each_future_says_what_is_known_of_it(tmp_path: Path) -> None:
    """Sent and unanswered: may have run. Waiting for a free connection: not executed. So says the file of the store."""
    store = f"sqlite:{tmp_path / 'store'}"
    async with RawRouter([SILENCE]) as router:
        flags = ("--router", router.url, "--max-connections", "1", "--store", store, "--drain-s", "1000")
        async with running(*flags) as server:
            sampling = await server.session()
            ids = [await server.submit(sampling, at) for at in range(2)]
            polls = [await server.poll(request_id) for request_id in ids for _ in range(2)]
            await router.until(1)
            server.signal()
            await _refusing(server)
            server.signal()
            async with asyncio.timeout(20):
                answers = [await poll.answer() for poll in polls]
            assert [answer.json["executed"] for answer in answers] == ["unknown", "unknown", "no", "no"]
            assert await server.ended() == 0
        async with running(*flags) as server:
            again = [(await (await server.poll(request_id)).answer()).body for request_id in ids]
            assert again == [answers[0].body, answers[2].body]
            server.signal()
            assert await server.ended() == 0
        assert router.requests == 1


async def test_without_a_durable_store_an_id_of_before_a_restart_is_unknown() -> None:
    """An honest 404, and never the result of another operation."""
    async with RawRouter([SAMPLED, SAMPLED]) as router:
        ids = []
        for _ in range(2):
            async with running("--router", router.url, "--drain-s", "0") as server:
                ids.append(await server.submit(await server.session()))
                answer = await (await server.poll(ids[0])).answer()
                server.signal()
                assert await server.ended() == 0
        assert ids[0] != ids[1]
        assert (answer.status, answer.json["error"]["type"]) == (404, "foreign")


async def test_callers_that_take_nothing_or_send_nothing_do_not_hold_up_the_end() -> None:
    """Half a request, half a head, no byte at all."""
    async with running("--router", "http://127.0.0.1:1", "--drain-s", "0") as server:
        for data in (request("asample", SAMPLE)[:-5], b"POST /api", b""):
            await (await server.open(data)).writer.drain()
        await server.get("/healthz")
        server.signal()
        assert await server.ended() == 0


async def _ended(server: Serving, poll: Call) -> str:
    """Whether the operation was executed, as a poll is told that the end of the server answers."""
    server.service.ending.hasten()
    server.server.should_exit = True
    async with asyncio.timeout(20):
        return str((await poll.answer()).json["executed"])


async def test_a_forward_that_pauses_before_it_is_sent_again_is_not_sent_again_by_a_server_that_ends() -> None:
    """The router said that it had not accepted the first: so it was not executed."""
    later = reply(503, b'{"error":{"message":"No available workers"}}', "Retry-After: 5")
    async with RawRouter([later]) as router, serving(router.url) as server:
        poll = await server.poll(await server.submit(await server.session()))
        await router.until(1)
        await server.settled()
        assert await _ended(server, poll) == "no"
        assert router.requests == 1


async def test_a_forward_that_does_not_end_has_an_outcome_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what became of it: it may have run."""

    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Forwarder, "forward", never)
    async with serving("http://127.0.0.1:1") as server:
        poll = await server.poll(await server.submit(await server.session()))
        await server.settled()
        assert await _ended(server, poll) == "unknown"


async def test_a_stderr_that_nobody_reads_stops_no_request_and_not_the_end() -> None:
    """A pipe that is full: requests are answered, and the process ends all the same."""
    unread, full = os.pipe()
    os.set_blocking(full, False)
    try:
        while True:
            os.write(full, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(full, True)
    try:
        async with running("--router", "http://127.0.0.1:1", stderr=full) as server:
            for _ in range(20):
                assert (await server.get("/healthz")).status == 200
            server.signal()
            assert await server.ended() == 0
    finally:
        os.close(unread)
        os.close(full)


async def test_a_backlog_that_the_kernel_cuts_is_said_in_one_line() -> None:
    """Nothing else is on stderr."""
    async with running(
        "--router", "http://127.0.0.1:1", "--backlog", "99999999", stderr=asyncio.subprocess.PIPE
    ) as server:
        server.signal()
        assert server.process.stderr is not None
        lines = (await server.process.stderr.read()).decode().splitlines()
    assert len(lines) == 1
    assert "the backlog of 99999999 is cut to" in lines[0]
