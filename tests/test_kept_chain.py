"""A chain whose first is kept from run to run: its second is fresh in each, and what it sends late is not lost."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from suites import kept_chain
from suites.accounts import accounts_of
from suites.chain import ChainSubject
from suites.driver import Driver
from suites.foreign import ForeignSubject
from suites.lanes import run_plans
from suites.processes import Supervisor
from suites.registry import subject_named
from suites.run import Run
from suites.subject import Isolation, SubjectError
from suites.way import Address
from tests.ledgers import ok, opened, planned, run, served
from tests.weak_forwarder import write_weak_forwarder

HEALTHY = Plan(operations=(PlannedOperation(),))
STRUCK = Plan(operations=(PlannedOperation(faults=("503-before",)),))


class Starts(ForeignSubject):
    """Counts its instances."""

    count = 0

    async def start(self, upstreams: Sequence[Address]) -> Any:
        self.count += 1
        return await super().start(upstreams)


def chain_in(folder: Path, supervisor: Supervisor) -> ChainSubject:
    """Of two weak forwarders, the first of which says that it may be shared."""
    name = write_weak_forwarder(folder, "always")
    (folder / "first.toml").write_text(
        (folder / name).read_text().replace("promises", 'isolation = "shared"\npromises')
    )
    chain = subject_named(f"{folder}/first.toml+{folder}/{name}", supervisor)
    assert isinstance(chain, ChainSubject)
    chain.outer = Starts(chain.outer.file, supervisor)
    chain.inner = Starts(chain.inner.file, supervisor)
    return chain


async def test_each_run_has_a_second_of_its_own_behind_the_same_first(tmp_path: Path) -> None:
    """Which is started once more where something was amiss with it, and for what is measured aside."""
    runs: dict[int, Run] = {}
    async with Supervisor() as supervisor:
        chain = chain_in(tmp_path, supervisor)
        assert (chain.spec.isolation, chain.spec.first_shared) == (Isolation.FRESH, True)
        with RouterThread() as routers:
            async with Driver(subject=chain, routers=routers) as driver:
                await run_plans(driver, [HEALTHY, STRUCK, HEALTHY, STRUCK], runs.__setitem__, lanes=1)
    accounts = {place: accounts_of(each).planned for place, each in runs.items()}
    seen = {place: [(len(one.attempts), len(one.executions)) for one in each] for place, each in accounts.items()}
    assert seen == {0: [(1, 1)], 1: [(1, 0)], 2: [(1, 1)], 3: [(1, 0)]}
    assert [runs[place].company for place in sorted(runs)] == [False, True, True, True]
    assert all(set(each.between or ()) >= set(each.operations) for each in runs.values())
    aside = 1
    assert (cast(Starts, chain.outer).count, cast(Starts, chain.inner).count) == (1 + aside, len(runs) + aside)


FINE = replace(run(planned(), [opened(1), *served(1, execution=1)], ok()), between={}, settled=True)


@dataclass
class Kept:
    """A chain that is kept, of which a test says what becomes."""

    sent: Counter[int] = field(default_factory=Counter)
    death: str | None = None
    closed: bool = False

    def passed(self) -> Counter[int]:
        return Counter(self.sent)

    def died(self) -> str | None:
        return self.death

    async def close(self) -> None:
        self.closed = True


@dataclass
class Lived:
    """What came of four plans, and of the firsts that they were lived through on. amiss: what happens when the run of
    that number, from 1, is over.
    """

    amiss: dict[int, Callable[[Kept], None]]
    made: list[Kept] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    company: list[bool] = field(default_factory=list)
    handed: dict[int, Run] = field(default_factory=dict)

    def kept(self, *_: object) -> Kept:
        """In place of KeptChain."""
        self.made.append(Kept())
        return self.made[-1]

    async def run_at(self, plan: Plan, _stages: object, *, company: bool) -> Run:
        """In place of the driver's: the operation of the plan's number is sent once."""
        kept, number = self.made[-1], len(plan.operations)
        self.company.append(company)
        kept.sent[number] += 1
        between = kept.passed()
        if happens := self.amiss.get(len(self.company)):
            happens(kept)
        return replace(FINE, operations=(number,), warmups=(), fresh=(), between=between, died=None)

    async def run(self, plan: Plan) -> Run:
        """On a fresh one."""
        self.alone.append(len(plan.operations))
        return FINE

    async def all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The plan of the first place has one operation, that of the second two, and so on."""
        monkeypatch.setattr(kept_chain, "KeptChain", self.kept)
        monkeypatch.setattr(kept_chain, "Stages", lambda *_: None)
        subject = subject_named("haproxy+nginx", Supervisor())
        driver = SimpleNamespace(subject=subject, routers=None, numbers=None, run_at=self.run_at, run=self.run)
        plans = [Plan(operations=(PlannedOperation(),) * count) for count in (1, 2, 3, 4)]
        places, starting = iter(range(4)), asyncio.Semaphore(1)
        await kept_chain.run_kept(cast(Driver, driver), plans, places, starting, self.handed.__setitem__)
        assert all(each.closed for each in self.made)
        assert sorted(self.handed) == [0, 1, 2, 3]


def sends(number: int) -> Callable[[Kept], None]:
    """The first sends that operation once more."""
    return lambda kept: kept.sent.update([number])


def dies(kept: Kept) -> None:
    """The first ends by itself."""
    kept.death = "exited with code 7"


@pytest.mark.parametrize(
    ("amiss", "firsts", "company", "alone"),
    [
        ({}, 1, [False, True, True, True], []),
        ({3: sends(1)}, 2, [False, True, True, False], [1, 3]),
        ({4: sends(4)}, 1, [False, True, True, True], [4]),
        ({2: dies}, 2, [False, True, False, True], []),
    ],
    ids=["nothing", "late, in another's run", "late, after its own run", "a death"],
)
async def test_a_first_with_which_something_is_amiss_serves_no_other_run(
    monkeypatch: pytest.MonkeyPatch,
    amiss: dict[int, Callable[[Kept], None]],
    firsts: int,
    company: list[bool],
    alone: list[int],
) -> None:
    """And what it sent late is seen: those runs, and that in which it came, are lived through on a fresh one."""
    lived = Lived(amiss)
    await lived.all(monkeypatch)
    assert (len(lived.made), lived.company, lived.alone) == (firsts, company, alone)


async def test_a_death_that_comes_after_a_run_is_that_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nobody's run would show it."""
    lived = Lived({2: dies})
    await lived.all(monkeypatch)
    assert [lived.handed[place].died for place in range(4)] == [None, "exited with code 7", None, None]


async def test_a_death_in_a_run_that_was_interrupted_is_not_that_of_the_run_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it was doing when it died is told by nobody."""

    def dies_and_breaks_off(kept: Kept) -> None:
        dies(kept)
        raise SubjectError("no such thing")

    lived = Lived({2: dies_and_breaks_off})
    with pytest.raises(SubjectError, match="no such thing"):
        await lived.all(monkeypatch)
    assert {place: run.died for place, run in lived.handed.items()} == {0: None}
