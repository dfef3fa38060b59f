"""Told scripts on the server itself and on servers that are wrong on purpose: it passes all of them, and each mutant
dies by those that were told for it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fake_router.thread import RouterThread
from suites.findings import Verdict
from suites.foreign import ForeignSubject
from suites.futures import quiescence
from suites.futures.hosts import host_of, powers_over
from suites.futures.judging import judge_record
from suites.futures.suite import out_of_reach
from suites.futures.theatre import Theatre
from suites.futures.told import told
from suites.processes import Supervisor
from suites.subject_file import built_in_file
from tests.futures_mutants import MUTANTS

FILE = built_in_file("reference-server")
SCRIPTS = told(FILE.offer)

# The smallest script that kills each mutant, and a property that it breaks there.
KILLED_BY = {
    "marks-retrieved-on-write": ("left by fin", "undelivered-is-retrievable"),
    "one-waiter-per-id": ("two pollers, and a third later", "nobody-waits"),
    "ttl-from-completion": ("nobody asks before the last moment", "whole-ttl"),
    "ttl-at-an-abandoned-poll": ("left by reset", "undelivered-is-retrievable"),
    "new-future-on-resubmit": ("the reply to a submit is lost", "at-most-once"),
    "resubmit-after-eviction-runs-again": ("evicted, and submitted again", "at-most-once"),
    "ids-without-identity": ("terminated with a poll waiting", "unique-ids"),
    "forgets-pollers-at-shutdown": ("terminated with a poll waiting", "honest-ids"),
    "encodes-per-poll-with-other-bytes": ("one of two leaves", "same-bytes"),
    "an-evicted-id-answers-empty": ("evicted, and submitted again", "honest-ids"),
    "an-evicted-id-answers-410": ("ids that nobody was given", "honest-ids"),
    "holds-for-ever": ("held to the end", "nobody-waits"),
    "forgets-what-it-took": ("killed on its store", "nothing-forgotten"),
    "never-refuses": ("there is no room", "bounded"),
    "evicts-what-nobody-got": ("there is no room", "undelivered-is-retrievable"),
    "breaks-down-at-its-end": ("terminated with a poll waiting", "ends"),
    "runs-again-what-was-lost": ("killed on its store", "never-sent-again"),
    "forgets-to-forward": ("left by fin", "comes-to-rest"),
}


@pytest.fixture(autouse=True)
def mutants_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests are no package that is installed, and a server runs in a folder of its own."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))


@pytest.fixture(scope="module")
def routers() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


@asynccontextmanager
async def theatre(routers: RouterThread, mutant: str | None) -> AsyncIterator[tuple[ForeignSubject, Theatre]]:
    """Where the server is played on, or the mutant of that name."""
    words = ("forwarder",) if mutant is None else ("tests.futures_mutants", mutant)
    command = [word for each in FILE.command for word in (words if each == "forwarder" else (each,))]
    async with Supervisor() as supervisor:
        subject = ForeignSubject(replace(FILE, command=tuple(command)), supervisor)
        async with Theatre(subject.spec, routers, host_of(subject)) as opened:
            yield subject, opened


def test_every_mutant_has_its_script() -> None:
    """Those of the table are those that there are."""
    assert set(KILLED_BY) == set(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS)
async def test_a_mutant_dies_by_its_script(routers: RouterThread, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property that was told for it is broken, among others."""
    name, check = KILLED_BY[mutant]
    if check == "comes-to-rest":
        monkeypatch.setattr(quiescence, "QUIET_MS", 500)
    async with asyncio.timeout(60), theatre(routers, mutant) as (_, opened):
        judgement = judge_record(await opened.play(SCRIPTS[name]))
    assert check in {finding.check for finding in judgement.failures}


async def test_the_server_passes_every_told_script(routers: RouterThread) -> None:
    """And each of them was lived through to its end, where this machine can."""
    async with asyncio.timeout(120), theatre(routers, None) as (subject, opened):
        powers = powers_over(subject)
        judged = {
            name: judge_record(await opened.play(script))
            for name, script in SCRIPTS.items()
            if not out_of_reach(script, powers)
        }
    assert {name: (one.failures, one.unknowns) for name, one in judged.items() if one.verdict is not Verdict.PASS} == {}
