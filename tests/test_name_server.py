"""The name server leads to the upstreams, fails as it is told, and the reference's resolver says so in time."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import dns.message
import pytest

from fake_router.entries import Asked, Striking, Struck, Witness
from fake_router.name_server import STALE_ADDRESS, name_of_upstream
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.acts import Misresolve
from faults.catalogue import CATALOGUE
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from forwarder.resolver import BoundedResolver

NAME_FAULTS = [id_ for id_, fault in CATALOGUE.items() if isinstance(fault.act, Misresolve)]
SHORT_MS, LONG_MS = 150, 10_000


@pytest.fixture
def routers() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


def _arm(thread: RouterThread, router: Router, fault: str, upstream: int | None = 0) -> None:
    plan = Plan(
        operations=(PlannedOperation(),),
        listeners=(PlannedListener(fault=fault, upstream=upstream),),
        upstreams=len(router.ports),
    )
    thread.run(router.arm, plan, first_operation=1, read_timeout_ms=300)


async def _resolved(router: Router, upstream: int = 0, within_ms: int = LONG_MS) -> str:
    """The address, or how it failed."""
    assert router.name_server is not None
    resolver = BoundedResolver([f"{router.name_server[0]}:{router.name_server[1]}"], within_ms=within_ms)
    try:
        (result,) = await resolver.resolve(name_of_upstream(upstream, router.name_server), 80)
    except socket.gaierror as error:
        return "EAI_NONAME" if error.errno == socket.EAI_NONAME else "EAI_AGAIN"
    finally:
        await resolver.close()
    return result["host"]


async def test_every_upstream_has_a_name(routers: RouterThread) -> None:
    """And no other name leads anywhere."""
    router = await routers.start_router(upstreams=2, names=True)
    assert [await _resolved(router, n) for n in (0, 1, 2)] == ["127.0.0.1", "127.0.0.1", "EAI_NONAME"]


@pytest.mark.parametrize(
    ("fault", "within_ms", "seen"),
    [
        ("name-unknown", LONG_MS, ["EAI_NONAME", "EAI_NONAME"]),
        ("name-failed", LONG_MS, ["EAI_AGAIN", "EAI_AGAIN"]),
        ("name-unanswered", SHORT_MS, ["EAI_AGAIN", "EAI_AGAIN"]),
        ("name-stale", LONG_MS, [STALE_ADDRESS, "127.0.0.1"]),
    ],
)
async def test_a_fault_of_names_shows_its_symptom_and_its_witness(
    routers: RouterThread, fault: str, within_ms: int, seen: list[str]
) -> None:
    """Twice in a row, beside an upstream that is not struck; healed, the name leads to its upstream again."""
    router = await routers.start_router(upstreams=2, names=True)
    _arm(routers, router, fault)
    assert [await _resolved(router, within_ms=within_ms) for _ in range(2)] == seen
    assert await _resolved(router, 1) == "127.0.0.1"
    routers.run(router.heal)
    assert await _resolved(router) == "127.0.0.1"
    entries = router.ledger.since()
    asked = [entry for entry in entries if isinstance(entry, Asked)]
    (striking,) = [entry for entry in entries if isinstance(entry, Striking)]
    (struck,) = [entry for entry in entries if isinstance(entry, Struck)]
    assert {entry.upstream for entry in asked} == {0}
    assert (striking.fault, striking.upstream) == (fault, 0)
    assert (struck.striking, struck.witness, struck.count) == (striking.seq, Witness.QUESTION, len(asked))


def test_every_fault_of_names_has_its_symptom_above() -> None:
    """A new one breaks the build until it has."""
    assert sorted(NAME_FAULTS) == ["name-failed", "name-stale", "name-unanswered", "name-unknown"]


async def test_a_name_that_nobody_asks_for_does_not_strike(routers: RouterThread) -> None:
    """There is no witness."""
    router = await routers.start_router(names=True)
    _arm(routers, router, "name-unknown")
    routers.run(router.heal)
    assert not [entry for entry in router.ledger.since() if isinstance(entry, Struck)]


def test_a_router_without_names_refuses_their_faults(routers: RouterThread) -> None:
    """The message says what is missing."""
    router = routers.run(routers.start_router)
    with pytest.raises(PlanError, match="plays no name server"):
        _arm(routers, router, "name-unknown")


def test_bytes_that_are_no_question_are_left_alone(routers: RouterThread) -> None:
    """What comes after them is answered."""
    router = routers.run(routers.start_router, names=True)
    assert router.name_server is not None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        an_answer = dns.message.make_response(dns.message.make_query("a.test", "A")).to_wire()
        for data in (b"", b"\x00", b"\xff" * 600, an_answer):
            sock.sendto(data, router.name_server)
    assert asyncio.run(_resolved(router)) == "127.0.0.1"


async def test_the_systems_resolver_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """getaddrinfo has a patience of its own, of many seconds."""
    released = threading.Event()

    def stuck(*_: object, **__: object) -> list[object]:
        released.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    resolver = BoundedResolver((), within_ms=SHORT_MS)
    started = time.monotonic()
    try:
        with pytest.raises(socket.gaierror, match=f"not resolved within {SHORT_MS} ms"):
            await resolver.resolve("router.example", 80)
    finally:
        released.set()
        await resolver.close()
    assert time.monotonic() > started
