"""The clock of tests: it moves when the server rests, and what it says is the same whenever the same was done."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.api_server import SAMPLE, SAMPLED, Process, request, running
from tests.raw_router import SILENCE, Act, RawRouter
from tests.test_api_polls import HOLD_MS, LEAVES, RETRIEVED_MS


async def _scene(server: Process, router: RawRouter, sampling: str, seq_id: int) -> list[Any]:
    """Every step once; what the server says after each, by names that are the same in each scene."""
    said: list[Any] = []

    async def say(advance_ms: int | None = None) -> None:
        state = await server.settled(advance_ms)
        names = dict.fromkeys(state["waiting"], "it")
        counted = {key: state[key] - before[key] for key in ("undelivered", "delivered", "evicted", "now_ms")}
        said.append(({names[key]: n for key, n in state["waiting"].items()}, state["in_flight"], counted))

    before = await server.settled()
    request_id = await server.submit(sampling, seq_id)
    await router.until(seq_id + 1)
    await say()
    polls = [await server.poll(request_id) for _ in range(3)]
    await say()
    LEAVES[seq_id % 3](polls.pop())
    await say()
    await say(HOLD_MS)
    said.append([(await poll.answer()).status for poll in polls])
    polls = [await server.poll(request_id) for _ in range(2)]
    await say()
    act = router.script[seq_id]
    assert isinstance(act, Act)
    assert act.gate is not None
    assert act.sent is not None
    act.gate.set()
    await act.sent.wait()
    await say()
    said.append([(await poll.answer()).status for poll in polls])
    await say(RETRIEVED_MS - 1)
    await say(1)
    said.append((await (await server.poll(request_id)).answer()).status)
    return said


async def test_the_same_steps_have_the_same_effects_at_the_same_time() -> None:
    """In a process of its own, whose sockets are told from nothing but the kernel."""
    scenes = 6
    script = [Act(sends=SAMPLED, gate=asyncio.Event(), sent=asyncio.Event()) for _ in range(scenes)]
    async with RawRouter(script) as router, running("--router", router.url, "--test-clock", "0") as server:
        sampling = await server.session()
        said = [await _scene(server, router, sampling, seq_id) for seq_id in range(scenes)]
    assert said == [said[0]] * scenes
    none: dict[str, int] = {}
    counted = {"undelivered": 0, "delivered": 0, "evicted": 0, "now_ms": 0}
    later, end = counted | {"now_ms": HOLD_MS}, counted | {"now_ms": HOLD_MS + RETRIEVED_MS}
    assert said[0] == [
        (none, 1, counted),
        ({"it": 3}, 1, counted),
        ({"it": 2}, 1, counted),
        (none, 1, later),
        [408, 408],
        ({"it": 2}, 1, later),
        (none, 0, later | {"delivered": 1}),
        [200, 200],
        (none, 0, end | {"delivered": 1, "now_ms": end["now_ms"] - 1}),
        (none, 0, end | {"evicted": 1}),
        404,
    ]


async def test_a_server_does_not_rest_while_its_store_is_written(tmp_path: Path) -> None:
    """Here it cannot write, since another has its file: whoever settles right behind a submit waits for both."""
    store = tmp_path / "store"
    flags = ("--test-clock", "0", "--store", f"sqlite:{store}")
    async with RawRouter([SILENCE]) as router, running("--router", router.url, *flags) as server:
        asked = {**SAMPLE, "sampling_session_id": await server.session(), "seq_id": 0}
        with closing(sqlite3.connect(store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            call = await server.open(request("asample", asked))
            settled = asyncio.create_task(server.settled())
            for _ in range(50):
                await server.get("/healthz")
            assert not settled.done()
            other.execute("ROLLBACK")
        assert (await settled)["in_flight"] == 1
        assert (await call.answer()).status == 200
