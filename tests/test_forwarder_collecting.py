"""What a forward leaves behind, and how often cycles are looked for in a server."""

import asyncio
import contextlib
import gc
import subprocess
import sys

import pytest
import uvloop

from forwarder import Forwarder, ForwardError
from forwarder.api.connection import Connection
from tests.api_server import serving
from tests.raw_router import FIN, NO_WORKERS, OK, RESET, SILENCE, Act, RawRouter, reply
from tests.test_api_polls import LEAVES, Leave, played, waiting

REQUEST = {"prompt": [1]}
TIMES = 20


@pytest.mark.parametrize("act", [OK, RESET, FIN, NO_WORKERS, reply(500, b"{}"), reply(200, b"<html>")])
def test_a_forward_leaves_no_cycle_behind(act: Act | bytes) -> None:
    """On the loop that servers use: so that they may look for cycles seldom."""

    async def asked(forwarder: Forwarder) -> None:
        with contextlib.suppress(ForwardError):
            await forwarder.complete(REQUEST)

    async def scene() -> int:
        async with RawRouter([act] * (2 * TIMES + 2)) as router, Forwarder([router.url]) as forwarder:
            await asked(forwarder)
            gc.collect()
            gc.disable()
            try:
                for _ in range(TIMES):
                    await asked(forwarder)
                return gc.collect()
            finally:
                gc.enable()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(scene()) < TIMES


@pytest.mark.parametrize("leave", LEAVES)
def test_a_connection_that_has_ended_leaves_no_cycle_behind(leave: Leave) -> None:
    """However its caller left the poll on it: an SDK leaves many, and each would be 10 KB."""

    async def scene() -> None:
        async with RawRouter([SILENCE] * 2) as router, serving(router.url) as server:
            request_id = await server.submit(await server.session())
            gc.collect()
            gc.disable()
            try:
                for _ in range(TIMES):
                    poll = await server.poll(request_id)
                    await waiting(server, request_id, 1)
                    leave(poll)
                    await waiting(server, request_id, 0)
                assert sum(isinstance(one, Connection) for one in gc.get_objects()) < TIMES
            finally:
                gc.enable()

    played(scene)


def test_what_a_server_has_loaded_is_never_looked_at_again() -> None:
    """And what is new is looked at far more often than what stays."""
    code = (
        "import gc; from forwarder.collecting import collect_seldom; collect_seldom(); "
        "assert gc.get_freeze_count() > 1000 and gc.get_threshold()[1] > 10"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
