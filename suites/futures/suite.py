"""The suite of futures on one subject: scripts that are told, then such as are drawn; failures are confirmed alone."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from fake_router.thread import RouterThread
from suites.findings import Proof
from suites.foreign import ForeignSubject
from suites.futures.checks import CHECKS
from suites.futures.host import Powers
from suites.futures.hosts import host_of, powers_over
from suites.futures.judging import judge_record
from suites.futures.offer import Offer, Store
from suites.futures.played import Failing, Played
from suites.futures.script import Script
from suites.futures.steps import Advance, Disturb, Leave, Restart
from suites.futures.struck import STRUCK
from suites.futures.table import Table
from suites.futures.theatre import Theatre
from suites.futures.told import told
from suites.stacks.stack import StackSubject
from suites.standing import StandingSubject
from suites.subject import Subject
from suites.tinker.open_call import Departure

UNDER_TOXIPROXY = "scripts of futures are lived through without --under and --draw-toxics"
AGAIN = 3  # times that a script which failed is lived through alone, until it fails again


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What came of it. examples: how many scripts were drawn at most, from that seed. not_run: why none was."""

    played: Played
    powers: Powers
    examples: int
    seed: int
    not_run: str = ""


def ids_of_suite() -> tuple[str, ...]:
    """The ids of its rows in a report, one for each property."""
    return tuple(f"futures/{check.name}" for check in CHECKS)


def chooses_futures(only: str | None) -> bool:
    """That glob chooses rows of it; None: all of everything."""
    return only is None or any(fnmatchcase(id_, only) for id_ in ids_of_suite())


def suite_for(
    subject: Subject,
    *,
    examples: int,
    seed_number: int,
    on_script: Callable[[], None] = lambda: None,
    not_run: str = "",
) -> Suite:
    """Of which nothing has been played."""
    played = Played(on_script=on_script)
    return Suite(played=played, powers=powers_over(subject), examples=examples, seed=seed_number, not_run=not_run)


async def play_suite(suite: Suite, subject: Subject, routers: RouterThread) -> None:
    """All of it; what is broken off has been played as far as that. Raises SubjectError where the subject cannot be
    had.
    """
    if isinstance(subject, ForeignSubject):
        await subject.read_version()
    played, powers = suite.played, suite.powers
    async with Theatre(subject.spec, routers, host_of(subject)) as theatre:
        for script in (*told(_offer_of(subject)).values(), *STRUCK.values()):
            if not out_of_reach(script, powers):
                played.add(await theatre.play(script))
        if suite.examples and not played.failing:
            await _drawn(theatre, suite)
        for check, failing in tuple(played.failing.items()):
            await _confirm(theatre, played, check, failing)


def out_of_reach(script: Script, powers: Powers) -> str:
    """Why that script cannot be lived through there; empty where it can."""
    reasons = [powers.no_sqlite] if script.store is Store.SQLITE else []
    reasons += [powers.no_room] if script.max_bytes else []
    for step in script.steps:
        match step:
            case Advance():
                reasons.append(powers.no_clock)
            case Restart():
                reasons.append(powers.no_restart)
            case Disturb(how=how):
                reasons.append(powers.no_strike(how))
            case Leave(how=Departure.VANISH):
                reasons.append(powers.no_vanishing)
            case _:
                pass
    return next(filter(None, reasons), "")


async def _drawn(theatre: Theatre, suite: Suite) -> None:
    """The machine is synchronous, so it has a thread of its own; who stops waiting for it stops it."""
    from suites.futures.drawn import play_drawn  # hypothesis takes a while to import

    loop = asyncio.get_running_loop()
    table = Table(theatre=theatre, loop=loop, powers=suite.powers, played=suite.played)
    drawing = asyncio.to_thread(play_drawn, table, examples=suite.examples, seed_number=suite.seed)
    playing = asyncio.ensure_future(drawing)
    try:
        await asyncio.shield(playing)
    except asyncio.CancelledError:
        suite.played.stopped = True
        await asyncio.wait((playing,))
        raise


async def _confirm(theatre: Theatre, played: Played, check: str, failing: Failing) -> None:
    """What the ledger proves stays; any other failure must come back on a server that nothing has happened to."""
    if failing.finding.proof is Proof.LEDGER:
        return
    shown = []
    for _ in range(AGAIN):
        record = await theatre.play(failing.script, fresh=True)
        again = [one for one in judge_record(record).findings if one.check == check]
        if any(one in judge_record(record).failures for one in again):
            return
        shown += [one.says for one in again] or ["nothing to judge"]
    says = f"in company: {failing.finding.says}; alone it did not come back in {AGAIN} times: {shown[-1]}"
    del played.failing[check]
    played.unknown[check] = replace(failing, finding=replace(failing.finding, says=says))


def _offer_of(subject: Subject) -> Offer:
    assert isinstance(subject, ForeignSubject | StandingSubject | StackSubject)
    return subject.file.offer
