"""Futures behind a real Toxiproxy: replies that are slow or lost, on the callers' hop and on the router's."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from fake_router.entries import Executed
from fake_router.thread import RouterThread
from faults.toxics import Direction, Latency, ResetPeer, Timeout, Toxic
from faults.under import Hop, Overlay
from suites.findings import Verdict
from suites.foreign import ForeignSubject
from suites.futures.hosts import host_of
from suites.futures.judging import judge_record
from suites.futures.offer import Storage
from suites.futures.player import Player
from suites.futures.record import Answered, Kind, Record, Submitted
from suites.futures.script import script_of
from suites.futures.steps import Advance, AnyStep, Land, Open, Poll, Read, Resubmit, Submit
from suites.futures.theatre import Theatre
from suites.futures.told import told
from suites.passage import Passage
from suites.processes import Supervisor
from suites.subject_file import built_in_file
from suites.way import Way
from tests.real_toxiproxy import RealToxiproxy, real_toxiproxy

pytestmark = pytest.mark.toxiproxy

FILE = built_in_file("reference-server")
SLOW = (
    Overlay(toxic=Latency(latency_ms=3, jitter_ms=2)),
    Overlay(toxic=Latency(latency_ms=3, jitter_ms=2, direction=Direction.UPSTREAM)),
)
SLOW_TO_CALLERS = tuple(Overlay(toxic=overlay.toxic, hop=Hop.CALLER) for overlay in SLOW)
WAY = Way(toxiproxy=True, under=SLOW, under_caller=SLOW_TO_CALLERS)
DEADLINE_S = 60


@pytest.fixture(scope="module")
def real() -> Iterator[RealToxiproxy]:
    with real_toxiproxy() as opened:
        yield opened


def _on_stage(real: RealToxiproxy, doing: Callable[[Theatre], Awaitable[None]]) -> None:
    """Both hops of the server lead through Toxiproxy, and are slow."""

    async def there() -> None:
        async with Supervisor() as supervisor:
            subject = ForeignSubject(FILE, supervisor)
            with RouterThread() as routers:
                async with Theatre(subject.spec, routers, host_of(subject), way=WAY, toxiproxy=real.server) as theatre:
                    await doing(theatre)

    asyncio.run_coroutine_threadsafe(there(), real.loop).result(DEADLINE_S)


def test_told_scripts_hold_where_both_hops_are_slow(real: RealToxiproxy) -> None:
    """Nothing is lost, run twice or waited for in vain, however late everything comes."""
    judged: dict[str, object] = {}

    async def play(theatre: Theatre) -> None:
        for name, script in told(FILE.offer).items():
            judgement = judge_record(await theatre.play(script))
            judged[name] = judgement.failures or judgement.unknowns or judgement.verdict

    _on_stage(real, play)
    assert {name: one for name, one in judged.items() if one is not Verdict.PASS} == {}


def _played_under(
    real: RealToxiproxy, *, before: tuple[AnyStep, ...], toxics: dict[Hop, Toxic], under: tuple[AnyStep, ...],
    after: tuple[AnyStep, ...],
) -> Record:  # fmt: skip
    """The steps `under` are done while these toxics are set, one on each hop; then they are lifted."""
    found: list[Record] = []

    async def play(theatre: Theatre) -> None:
        player = await theatre.enter(Storage())
        through, front = theatre.hops(Storage())
        hops: dict[Hop, Passage | None] = {Hop.ROUTER: through, Hop.CALLER: front}
        try:
            await _perform(player, before)
            for hop, toxic in toxics.items():
                passage = hops[hop]
                assert passage is not None
                await passage.poison(0, toxic)
            await _perform(player, under)
            for passage in hops.values():
                assert passage is not None
                await passage.lift()
            await _perform(player, after)
            await player.finish()
            found.append(player.record(script_of((*before, *under, *after))))
        finally:
            await theatre.leave(player, Storage())

    _on_stage(real, play)
    return found[0]


async def _perform(player: Player, steps: tuple[AnyStep, ...]) -> None:
    for step in steps:
        await player.perform(step)


def _kinds(record: Record) -> list[Kind]:
    """What those who submitted and polled got, in order."""
    answers = [fact.answer for fact in record.facts if isinstance(fact, Submitted | Answered)]
    return [answer.kind for answer in answers if answer is not None]


def test_a_submit_whose_reply_is_lost_runs_once(real: RealToxiproxy) -> None:
    """The caller reads EOF in place of its request id; the second submit gets the id of the first."""
    record = _played_under(
        real,
        before=(Open(),),
        toxics={Hop.CALLER: ResetPeer(direction=Direction.DOWNSTREAM)},
        under=(Submit(session=0),),
        after=(Resubmit(operation=0), Land(operation=0), Poll(operation=0), Read(poll=0)),
    )
    assert _kinds(record)[:3] == [Kind.NOTHING, Kind.TAKEN, Kind.RESULT]
    assert sum(isinstance(entry, Executed) for entry in record.ledger) == 1
    assert judge_record(record).failures == ()


def test_a_result_that_was_lost_on_its_way_is_there_for_the_next_poll(real: RealToxiproxy) -> None:
    """Toxiproxy takes it for the caller, and throws it away: the retrieved TTL runs, and outlasts the next poll."""
    record = _played_under(
        real,
        before=(Open(), Submit(session=0), Poll(operation=0)),
        toxics={Hop.CALLER: Timeout(timeout_ms=0, direction=Direction.DOWNSTREAM)},
        under=(Land(operation=0),),
        after=(Advance(ms=FILE.offer.retrieved_ms - 1), Poll(operation=0), Read(poll=1)),
    )
    assert Kind.RESULT in _kinds(record)
    assert Kind.GONE not in _kinds(record)
    assert judge_record(record).failures == ()


def test_what_is_lost_on_both_hops_is_never_run_again(real: RealToxiproxy) -> None:
    """The router's answer is lost, and so is what the caller was told of it: one failure for all who ask later."""
    record = _played_under(
        real,
        before=(Open(), Submit(session=0), Poll(operation=0)),
        toxics={
            Hop.ROUTER: ResetPeer(direction=Direction.DOWNSTREAM),
            Hop.CALLER: Timeout(timeout_ms=0, direction=Direction.DOWNSTREAM),
        },
        under=(Land(operation=0),),
        after=(Resubmit(operation=0), Poll(operation=0), Read(poll=1), Poll(operation=0), Read(poll=2)),
    )
    assert set(_kinds(record)) - {Kind.NOTHING} == {Kind.TAKEN, Kind.FAILED}
    assert sum(isinstance(entry, Executed) for entry in record.ledger) == 1
    assert judge_record(record).failures == ()
