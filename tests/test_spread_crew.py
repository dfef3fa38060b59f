"""Callers in worker processes: what these say, put together, from literal words."""

import asyncio
from pathlib import Path

import pytest

from retryproof.exits import CommandError, Exit
from retryproof.frames import CallersRequest
from retryproof.load_frames import Arrived, Begun, Looked, Place, Ready, Recorded, Said
from retryproof.pickles import pickled
from retryproof.spread_crew import Hand, SpreadCrew, hands
from suites.given import NOTHING_GIVEN
from suites.load.asked import Callers, Load
from suites.load.ended import Ended
from suites.load.found import Use
from suites.load.limits import Layout
from suites.load.progress import Count
from suites.load.target import loopback_of, orders, target_named
from suites.processes import Supervisor
from tests.load_data import tally

ELSEWHERE = Place(boot="another", network="net:[1]")


class _Unit:
    """A worker process that has said this, and ends when it is told to: a Unit."""

    node = "10.0.0.7 (node 12345678)"

    def __init__(self, *said: Said) -> None:
        self.frames = asyncio.StreamReader()
        self._over = asyncio.Event()
        for one in said:
            self.frames.feed_data(pickled(one))

    def tell(self, data: bytes) -> None:
        """It hears all, and does nothing."""

    def stop(self) -> None:
        """It ends."""
        self.frames.feed_eof()
        self._over.set()

    def kill(self) -> None:
        """It has ended."""

    async def ended(self) -> str:
        """In good order."""
        await self._over.wait()
        return "exited with code 0"


class _Where:
    """A cluster, where these are: a Where."""

    def __init__(self, *units: _Unit) -> None:
        self._units = list(units)

    async def begin(self, request: CallersRequest) -> _Unit:
        """The next."""
        return self._units.pop(0)


def _looked(cpu_s: float, done: int) -> Looked:
    counts = {count: done if count is Count.DONE else 0 for count in Count}
    return Looked(counts=counts, uses=(Use(cpu_s=cpu_s, resident_bytes=1, sockets=1),))


def _crew(begun: list[Hand], tmp_path: Path) -> SpreadCrew:
    load = Load(in_flight=2, operations=2, callers=Callers.SDK)
    layout = Layout(routers=1, instances=1, callers=2, sources=1, connecting=16)
    file = target_named("reference", NOTHING_GIVEN)
    return SpreadCrew(begun, orders(load, layout, file, [("127.0.0.1", 1)]), tmp_path, Supervisor())


async def test_a_callers_times_are_told_by_the_clock_here(tmp_path: Path) -> None:
    """Counted from the word to begin: that of another machine began somewhere else; what each says is put together."""
    records = Recorded(tally=tally(Ended.OK, Ended.OK), last_number=2)
    there = _Unit(Arrived(place=ELSEWHERE), Ready(), Begun(at_ns=1_000), _looked(2.0, 2), records)
    here = _Unit(Arrived(place=Place.here()), Ready(), Begun(at_ns=1_000), _looked(1.0, 3), records)
    async with hands(_Where(there, here), 2, "") as begun:
        crew = _crew(begun, tmp_path)
        await crew.ready()
        crew.begin()
        await crew.end()
        ended_ns = crew.tally().records["ended_ns"].tolist()
        assert [ended_ns[1] - ended_ns[0], ended_ns[3] - ended_ns[2]] == [1_000_000, 1_000_000]
        assert ended_ns[2:] == [1_000_000, 2_000_000]
        assert ended_ns[0] == 1_000_000 - 1_000 + crew._begun_ns
        assert [use.cpu_s for use in crew.uses()] == [2.0, 1.0]
        assert (crew.counts()[Count.DONE], crew.last_number(), crew.lost()) == (5, 2, ())


async def test_callers_elsewhere_of_a_subject_at_a_loopback_address_are_refused() -> None:
    """Before the subject is started; one message says what is needed."""
    assert loopback_of(target_named("reference", NOTHING_GIVEN)) == "reference-server"
    with pytest.raises(CommandError) as refused:
        async with hands(_Where(_Unit(Arrived(place=ELSEWHERE))), 1, "reference-server"):
            pass
    assert refused.value.code is Exit.COULD_NOT_RUN
    assert str(refused.value).startswith(
        "on 10.0.0.7 (node 12345678): callers there cannot reach reference-server, which listens at a loopback address"
    )


async def test_a_hand_that_ended_before_it_was_done_is_lost(tmp_path: Path) -> None:
    """Nobody waits for it any more."""
    lost, other = _Unit(Arrived(place=ELSEWHERE)), _Unit(Arrived(place=ELSEWHERE), Ready())
    async with hands(_Where(lost, other), 2, "") as begun:
        crew = _crew(begun, tmp_path)
        lost.stop()
        await crew.ready()
        assert crew.lost() == ("a worker process with callers on 10.0.0.7 (node 12345678) exited with code 0",)
        assert not crew.are_done()
