"""Polls that wait, overlap and are left: what counts as a possible delivery, and that nothing stays behind."""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from forwarder.futures.outcome import Sampled
from tests.api_server import PROTOBUF, SAMPLED, Call, Serving, request, serving
from tests.raw_router import SILENCE, Act, RawRouter, reply

HOLD_MS = 300_000
RETRIEVED_MS = 300_000
UNDELIVERED_MS = 86_400_000
Leave = Callable[[Call], None]


def fin(call: Call) -> None:
    """Close it; nothing unread lies in it, so that is a FIN."""
    call.writer.close()


def reset(call: Call) -> None:
    """Close it with RST."""
    call.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    call.writer.transport.abort()


def half_close(call: Call) -> None:
    """Send FIN, and go on reading."""
    call.writer.write_eof()


LEAVES: tuple[Leave, ...] = (fin, reset, half_close)
Scene = Callable[[], Coroutine[Any, Any, None]]


def played(scene: Scene) -> None:
    """On uvloop, as the server runs."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(scene(), 60))


async def waiting(server: Serving, request_id: str, polls: int) -> None:
    """So many polls are held for it."""
    assert (await server.settled())["waiting"].get(request_id, 0) == polls


async def landed(server: Serving, gate: asyncio.Event) -> None:
    """The router answers, and the server has it."""
    gate.set()
    while server.service.futures.counts.in_flight:
        await server.settled()
    await server.settled()


@pytest.mark.parametrize("leave", LEAVES)
def test_a_poll_that_is_left_while_it_waits_does_not_count(leave: Leave) -> None:
    """The result keeps its long life, and is had by the next poll; no waiter stays."""

    async def scene() -> None:
        gate = asyncio.Event()
        async with RawRouter([Act(sends=SAMPLED, gate=gate)]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            poll = await server.poll(request_id)
            await waiting(server, request_id, 1)
            leave(poll)
            await waiting(server, request_id, 0)
            await landed(server, gate)
            assert (await server.settled())["undelivered"] == 1
            assert 'forwarder_polls_total{ending="left"} 1.0' in (await server.get("/metrics")).body.decode()
            assert (await server.settled(UNDELIVERED_MS - 1))["undelivered"] == 1
            answer = await (await server.poll(request_id)).answer()
            assert (answer.status, answer.headers["content-type"]) == (200, PROTOBUF)

    played(scene)


@pytest.mark.parametrize("leave", LEAVES)
def test_a_poll_that_was_left_before_the_server_read_it_does_not_count(leave: Leave) -> None:
    """Request and end lie in the kernel together; the answer is there already."""

    async def scene() -> None:
        async with RawRouter([SAMPLED]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            ready = asyncio.Event()
            ready.set()
            await landed(server, ready)
            with socket.create_connection(server.address) as caller:
                caller.sendall(request("retrieve_future", {"request_id": request_id}))
                # Without a turn of the loop between: the server, on the same loop, has not even accepted it.
                if leave is half_close:
                    caller.shutdown(socket.SHUT_WR)
                else:
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", leave is reset, 0))
                    caller.close()
                state = await server.settled()
            assert (state["undelivered"], state["delivered"]) == (1, 0)

    played(scene)


@pytest.mark.parametrize("leave", LEAVES)
def test_a_poll_that_is_left_inside_its_answer_does_not_count(leave: Leave) -> None:
    """An answer larger than all buffers: its caller takes the beginning, and leaves."""

    async def scene() -> None:
        async with RawRouter([Act(sends=SAMPLED)]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            ready = asyncio.Event()
            ready.set()
            await landed(server, ready)
            _enlarge(server, request_id, 32 * 1024 * 1024)
            poll = await server.poll(request_id, receive_buffer=4096)
            await poll.reader.readuntil(b"\r\n\r\n")
            await server.settled()
            leave(poll)
            while len(server.server.server_state.connections) > 1 or server.service.activity.busy:
                await server.settled()  # on a connection of its own: the poll's ends, although nobody takes the rest
            assert 'forwarder_polls_total{ending="left"} 1.0' in (await server.get("/metrics")).body.decode()
            assert (await server.settled())["undelivered"] == 1

    played(scene)


def _enlarge(server: Serving, request_id: str, size: int) -> None:
    look = server.service.futures.look
    object.__setattr__(look(request_id), "payload", b"x" * size)
    assert isinstance(look(request_id), Sampled)


def test_a_delivery_starts_the_short_life_and_another_starts_it_again() -> None:
    """Then it is gone, and says which; nothing runs again for a submit that is sent again."""

    async def scene() -> None:
        async with RawRouter([SAMPLED]) as router, serving(router.url) as server:
            sampling = await server.session()
            request_id = await server.submit(sampling)
            for _ in range(2):
                assert (await (await server.poll(request_id)).answer()).status == 200
                assert (await server.settled(RETRIEVED_MS - 1))["delivered"] == 1
            state = await server.settled(1)
            assert (state["delivered"], state["evicted"]) == (0, 1)
            gone = await (await server.poll(request_id)).answer()
            assert (gone.status, gone.json["error"]["type"]) == (404, "evicted")
            assert "delivered and evicted" in gone.json["error"]["message"]
            assert await server.submit(sampling) == request_id
            assert router.requests == 1

    played(scene)


def test_a_poll_is_held_to_the_end_of_its_hold_and_told_to_try_again() -> None:
    """At the very moment, and not before; at the same moment as the result it would get the result."""

    async def scene() -> None:
        gate = asyncio.Event()
        async with RawRouter([Act(sends=SAMPLED, gate=gate)]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            first = await server.poll(request_id)
            assert (await server.settled(HOLD_MS - 1))["waiting"] == {request_id: 1}
            second = await server.poll(request_id)
            assert (await server.settled(1))["waiting"] == {request_id: 1}
            answer = await first.answer()
            assert (answer.status, answer.json["type"]) == (408, "try_again")
            await landed(server, gate)
            assert (await second.answer()).status == 200

    played(scene)


@pytest.mark.parametrize("hold_first", [False, True])
def test_a_result_that_lands_in_the_turn_in_which_a_hold_ends_is_delivered(hold_first: bool) -> None:
    """In whichever order: it is not answered with "try again", and it is not lost."""

    async def scene() -> None:
        async with RawRouter([SILENCE]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            poll = await server.poll(request_id)
            await waiting(server, request_id, 1)

            def end_hold() -> None:
                assert server.clock.step(server.clock.now_ms() + HOLD_MS)

            def land() -> None:
                resolving = server.service.futures.resolve(request_id, Sampled(b"result"))
                with pytest.raises(StopIteration):
                    resolving.send(None)  # all of it in this turn of the loop

            for act in (end_hold, land) if hold_first else (land, end_hold):
                act()
            answer = await poll.answer()
            assert (answer.status, answer.body) == (200, b"result")

    played(scene)


def test_seven_polls_of_one_id_each_wait_and_those_that_are_left_leave_nothing() -> None:
    """Each is left before the next comes; two more overlap, and both get the same bytes."""

    async def scene() -> None:
        gate = asyncio.Event()
        async with RawRouter([Act(sends=SAMPLED, gate=gate)]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            await server.settled()
            before = len(asyncio.all_tasks())
            for at in range(7):
                poll = await server.poll(request_id)
                await waiting(server, request_id, 1)
                LEAVES[at % 3](poll)
                await waiting(server, request_id, 0)
            assert len(asyncio.all_tasks()) == before
            polls = [await server.poll(request_id) for _ in range(2)]
            await waiting(server, request_id, 2)
            await landed(server, gate)
            answers = [await poll.answer() for poll in polls]
            assert answers[0].body == answers[1].body
            assert [answer.status for answer in answers] == [200, 200]
            assert (await server.settled())["delivered"] == 1

    played(scene)


@pytest.mark.parametrize("leave", LEAVES)
def test_a_caller_that_pipelines_a_request_behind_its_poll_is_seen_to_leave_too(leave: Leave) -> None:
    """uvicorn tells the latest request of a connection alone that its caller has left."""

    async def scene() -> None:
        gate = asyncio.Event()
        async with RawRouter([Act(sends=SAMPLED, gate=gate)]) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            asked = request("retrieve_future", {"request_id": request_id})
            poll = await server.open(asked + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + asked)
            await waiting(server, request_id, 1)
            leave(poll)
            await waiting(server, request_id, 0)
            await landed(server, gate)
            assert (await server.settled())["undelivered"] == 1

    played(scene)


def test_one_connection_serves_poll_after_poll() -> None:
    """Whatever each of them comes to."""

    async def scene() -> None:
        script = [SAMPLED, reply(500, b"{}")]
        async with RawRouter(script) as router, serving(router.url) as server:
            sampling = await server.session()
            ids = [await server.submit(sampling, at) for at in range(2)]
            call = await server.open()
            for request_id, expected in [(ids[0], PROTOBUF), (ids[1], "application/json"), (ids[0], PROTOBUF)]:
                call.writer.write(request("retrieve_future", {"request_id": request_id}, f"Accept: {PROTOBUF}"))
                assert (await call.answer()).headers["content-type"] == expected

    played(scene)
