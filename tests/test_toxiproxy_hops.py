"""Runs with the real Toxiproxy on either hop, before subjects that are started and before one that stands."""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from faults.toxics import Direction, Latency, Slicer
from faults.under import Hop, Overlay
from suites.driver import Driver
from suites.findings import Verdict
from suites.foreign import ForeignSubject
from suites.given import Given, url_subject
from suites.judge import judge
from suites.passage import Passage
from suites.processes import Supervisor
from suites.run import Run
from suites.standing import StandingSubject
from suites.subject import Subject, SubjectError
from suites.subject_file import load_subject_file
from tests.real_toxiproxy import DEADLINE_S, RealToxiproxy
from tests.standing import Standing, standing
from tests.weak_forwarder import write_weak_forwarder

pytestmark = pytest.mark.toxiproxy

HEALTHY = (PlannedOperation(),)
BOTH = tuple(
    Overlay(toxic=Latency(direction=direction, latency_ms=10), hop=hop) for direction in Direction for hop in Hop
)


@pytest.fixture
def weak(tmp_path: Path) -> Iterator[Standing]:
    """It dies of a 500."""
    with standing(load_subject_file(tmp_path / write_weak_forwarder(tmp_path, "always")), tmp_path / "runs") as running:
        yield running


def _standing(weak: Standing, listen: tuple[str, ...] = ()) -> StandingSubject:
    given = Given(
        listen=listen or weak.listen, speaks="openai-completions", promises="transparent", settings=("quiet_ms=50",)
    )
    return StandingSubject(url_subject(weak.url, given))


def _lived(real: RealToxiproxy, subject: Subject, *plans: Plan) -> list[Run]:
    """Each of these, one after the other."""

    async def live() -> list[Run]:
        with RouterThread() as routers:
            async with Driver(subject=subject, routers=routers, toxiproxy=real.server) as driver:
                return [await driver.run(plan) for plan in plans]

    return asyncio.run_coroutine_threadsafe(live(), real.loop).result(DEADLINE_S)


def _verdicts(runs: list[Run]) -> list[Verdict | None]:
    return [judge(run).verdict for run in runs]


def test_a_subject_that_stands_finds_toxiproxy_where_its_router_was(real: RealToxiproxy, weak: Standing) -> None:
    """And the router itself again afterwards; what is laid over either hop is witnessed."""
    under = Plan(operations=HEALTHY, under=BOTH)
    runs = _lived(real, _standing(weak), Plan(operations=HEALTHY), under, Plan(operations=HEALTHY))
    assert _verdicts(runs) == [Verdict.PASS] * 3


def test_an_address_in_use_is_the_same_message_behind_toxiproxy(real: RealToxiproxy, weak: Standing) -> None:
    """It quotes the address, and says whose it is."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        subject = _standing(weak, listen=(address,))
        for under in ((), BOTH):
            with pytest.raises(SubjectError, match=rf"{address} is in use; .*: it is where .* looks for its router"):
                _lived(real, subject, Plan(operations=HEALTHY, under=under))


def test_who_is_gone_behind_toxiproxy_is_seen_to_be_gone(real: RealToxiproxy, weak: Standing) -> None:
    """Toxiproxy accepts though nobody is behind it: who is dead is asked for directly."""
    under = (Overlay(toxic=Latency(latency_ms=5), hop=Hop.CALLER),)
    (run,) = _lived(real, _standing(weak), Plan(operations=(PlannedOperation(faults=("500-before",)),), under=under))
    assert "accepts no connection any more" in (run.died or "")


@pytest.mark.parametrize("fault", ["healthy", "502-after", "body-length-fin"])
def test_a_caller_reads_the_same_through_toxiproxy(real: RealToxiproxy, tmp_path: Path, fault: str) -> None:
    """Whole is whole, and cut is cut, in pieces too."""
    file = load_subject_file(tmp_path / write_weak_forwarder(tmp_path, "once"))
    pieces = tuple(Overlay(toxic=Slicer(direction=each, average_bytes=16), hop=Hop.CALLER) for each in Direction)
    plan = Plan(operations=(PlannedOperation(faults=(fault,)),))

    async def live() -> list[Run]:
        with RouterThread() as routers:
            async with (
                Supervisor() as supervisor,
                Driver(subject=ForeignSubject(file, supervisor), routers=routers, toxiproxy=real.server) as driver,
            ):
                return [await driver.run(plan), await driver.run(replace(plan, under=pieces))]

    bare, sliced = asyncio.run_coroutine_threadsafe(live(), real.loop).result(DEADLINE_S)
    assert [(one.kind, one.arrival, one.status) for one in bare.history] == [
        (one.kind, one.arrival, one.status) for one in sliced.history
    ]
    assert judge(bare).verdict is judge(sliced).verdict is Verdict.PASS


@pytest.mark.parametrize("toxic", [Latency(latency_ms=20), Slicer(average_bytes=16)])
@pytest.mark.parametrize("hop", Hop)
def test_a_passage_that_lays_nothing_proves_nothing(
    real: RealToxiproxy, weak: Standing, monkeypatch: pytest.MonkeyPatch, toxic: Latency | Slicer, hop: Hop
) -> None:
    """Its proxies pass all on as it comes: UNKNOWN, never PASS."""
    monkeypatch.setattr(real.server.client, "lay", _nothing)
    (run,) = _lived(real, _standing(weak), Plan(operations=HEALTHY, under=(Overlay(toxic=toxic, hop=hop),)))
    assert not run.overlaid
    assert judge(run).verdict is Verdict.UNKNOWN


def test_what_toxiproxy_lists_and_does_not_do_is_seen_by_the_clock(
    real: RealToxiproxy, weak: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A latency that is listed and lies nowhere lets answers come too soon."""
    monkeypatch.setattr(real.server.client, "lay", _nothing)
    monkeypatch.setattr(Passage, "overlaid", _says_so)
    under = (Overlay(toxic=Latency(latency_ms=10_000)),)
    (run,) = _lived(real, _standing(weak), Plan(operations=HEALTHY, under=under))
    assert run.overlaid
    (gap,) = [finding for finding in judge(run).unknowns if finding.check == "vacuity"]
    assert "its latency is 10000 ms or more" in gap.says


async def _nothing(*_: object) -> None:
    """Does nothing."""


async def _says_so(_: object) -> bool:
    return True
