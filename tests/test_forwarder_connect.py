"""Failures before a connection is handed to the request: nothing ran, so each may be sent again."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
import uvloop

from forwarder import NEVER, SAFE, Forwarder, Kind, NotExecutedError, Settings
from tests.raw_router import OK, Act, RawRouter

REQUEST = {"prompt": [1]}
QUICK = Settings(connect_timeout_ms=300, read_timeout_ms=10_000)
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


@contextmanager
def _refusing() -> Iterator[str]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextmanager
def _dropping_syns() -> Iterator[str]:
    with socket.socket() as full, socket.socket() as filler:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        filler.connect(full.getsockname())
        yield f"http://127.0.0.1:{full.getsockname()[1]}"


@contextmanager
def _unresolvable() -> Iterator[str]:
    yield "http://router.invalid"  # RFC 6761 s6.4: never resolves


FAILURES: list[tuple[Callable[[], AbstractContextManager[str]], Kind, str]] = [
    (_refusing, Kind.CONNECT, "ECONNREFUSED"),
    (_dropping_syns, Kind.CONNECT_TIMEOUT, "not within 300 ms (the connect timeout)"),
    (_unresolvable, Kind.DNS, "router.invalid"),
]


@pytest.mark.parametrize("new_loop", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize(("failing", "kind", "says"), FAILURES, ids=[kind.name for _, kind, _ in FAILURES])
def test_a_failed_connect_moves_on_to_the_next_router_and_stays_there(
    failing: Callable[[], AbstractContextManager[str]],
    kind: Kind,
    says: str,
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """The second router gets the request once; with policy `never`, or nowhere to go, it was not executed."""

    async def scene() -> None:
        with failing() as bad:
            async with RawRouter() as router, Forwarder([bad, router.url], settings=QUICK) as forwarder:
                await forwarder.complete(REQUEST)
                await forwarder.complete(REQUEST)
                assert (router.requests, router.connections) == (2, 1)
            for policy, attempts in ((SAFE, 2), (NEVER, 1)):
                async with Forwarder([bad], policy=policy, settings=QUICK) as forwarder:
                    with pytest.raises(NotExecutedError) as caught:
                        await forwarder.complete(REQUEST)
                    assert [failure.kind for failure in caught.value.failures] == [kind] * attempts
                    assert says in str(caught.value)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scene())


async def test_a_waiter_for_a_free_connection_is_not_failed_by_the_connect_timer() -> None:
    """Queueing is no failure: with one connection at most, three requests arrive one after the other, each once."""
    gate = asyncio.Event()
    async with RawRouter() as router:
        router.script = [Act(sends=OK, gate=gate)]
        settings = Settings(max_connections=1, connect_timeout_ms=250, read_timeout_ms=60_000)
        async with Forwarder([router.url], settings=settings) as forwarder:
            calls = [asyncio.create_task(forwarder.complete({"prompt": [i]})) for i in range(3)]
            await router.until(1)
            await asyncio.sleep(0.6)  # two connect time-outs: the fault is the delay
            assert (router.requests, forwarder.in_flight) == (1, 3)
            gate.set()
            await asyncio.gather(*calls)
            assert (router.requests, router.connections, forwarder.in_flight) == (3, 1, 0)
            assert len(set(router.bodies)) == 3
