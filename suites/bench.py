"""A subject on a bench: plans in, verdicts out, one at a time, for synchronous tests."""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from unittest import SkipTest

import uvloop

from fake_router.entries import Striking, Struck
from fake_router.thread import RouterThread
from faults.coverage import Depth
from faults.plan import Plan
from suites.cells import Cell
from suites.driver import Driver
from suites.failing_plans import kept
from suites.findings import Verdict
from suites.fitting import cells_for
from suites.given import refuse_bare_url
from suites.judge import Judgement, invariant_of
from suites.lives import live_beside_twin, live_or_again
from suites.marked import A_PLAN
from suites.passage import Toxiproxy
from suites.printable import printable
from suites.processes import Supervisor
from suites.reach import Machine, unreachable
from suites.registry import subject_named
from suites.run import Run
from suites.subject import SubjectSpec
from suites.toxiproxy.building import Builder, Tell, obtain
from suites.toxiproxy.source import require_client
from suites.under_text import NOTHING_OVER, Under

NO_SKIP = "RETRYPROOF_NO_SKIP"  # set: nothing may be missing


def _to_nobody(_line: str) -> None:
    """Nobody wants to know."""


class NotRunError(SkipTest):
    """A plan that the subject or the machine cannot reach. Nothing was run: to pytest it is a skip, with the reason."""


class BrokenMustError(AssertionError):
    """A plan on which the subject broke a must, or on which nothing was proved. The message says how to replay it."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """Drives the subject from a loop on a thread of its own, so that tests (and Hypothesis) stay synchronous."""

    name: str
    examples: int
    loop: asyncio.AbstractEventLoop
    driver: Driver
    machine: Machine
    under: Under = NOTHING_OVER
    lived: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    struck: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    scripts: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    of_sdk: Counter[str] = field(default_factory=Counter)

    @staticmethod
    @contextmanager
    def open(
        name: str, examples: int, under: Under = NOTHING_OVER, *, toxiproxy: bool = False, tell: Tell = _to_nobody
    ) -> Iterator["Bench"]:
        """Under these toxics, or (toxiproxy) with a Toxiproxy for plans that need one. `tell` hears that it is built.

        Raises SubjectError where the subject cannot run, ValueError for a name that is no subject here, and
        ToxiproxyError where there is none.
        """
        refuse_bare_url(name)
        loop = uvloop.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="bench", daemon=True)
        thread.start()
        stack = AsyncExitStack()
        with_toxiproxy = toxiproxy or under.toxiproxy

        async def start() -> Driver:
            routers = stack.enter_context(RouterThread())
            supervisor = await stack.enter_async_context(Supervisor())
            subject = subject_named(name, supervisor)
            between = await stack.enter_async_context(_toxiproxy(supervisor, tell)) if with_toxiproxy else None
            return await stack.enter_async_context(Driver(subject=subject, routers=routers, toxiproxy=between))

        try:
            driver = asyncio.run_coroutine_threadsafe(start(), loop).result()
            machine = Machine.here(toxiproxy=with_toxiproxy)
            yield Bench(name=name, examples=examples, loop=loop, driver=driver, machine=machine, under=under)
        finally:
            asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    @property
    def spec(self) -> SubjectSpec:
        """What is known of the subject."""
        return self.driver.subject.spec

    def cells(self) -> tuple[Cell, ...]:
        """The cells of the catalogue, in words that the subject understands."""
        return cells_for([self.spec], Depth.FULL, self.under)

    def unreached(self) -> Counter[str]:
        """How many cells cannot be run, by the reason."""
        reasons = (unreachable(cell.plan, self.spec, self.machine) for cell in self.cells())
        return Counter(reason for reason in reasons if reason is not None)

    def live(self, plan: Plan, suite: str) -> tuple[Run, Judgement]:
        """The plan lived through, judged; counted under the name of the suite."""
        return self._counted(live_or_again(self.driver, plan), suite)

    def _counted(self, living: Coroutine[None, None, tuple[Run, Judgement]], suite: str) -> tuple[Run, Judgement]:
        started = time.monotonic()
        run, judgement = asyncio.run_coroutine_threadsafe(living, self.loop).result()
        self.lived[suite] += 1
        self.seconds[suite] = self.seconds.get(suite, 0.0) + time.monotonic() - started
        closed = {entry.striking for entry in run.ledger if isinstance(entry, Struck)}
        met = {entry.fault for entry in run.ledger if isinstance(entry, Striking) and entry.seq in closed}
        self.struck.update(met)
        if judgement.verdict in (Verdict.PASS, Verdict.FAIL):
            self.judged.update(met)
        return run, judgement

    def holds(self, plan: Plan, suite: str) -> Judgement:
        """Live through the plan and insist on PASS. Raises BrokenMustError with the plan saved for replay, NotRunError
        for a plan that cannot be reached, and ValueError for what is no plan.
        """
        plan = self.laid(plan)
        self._require_reach(plan)
        _, judgement = self.live(plan, suite)
        return self._insist(plan, suite, judgement)

    def holds_beside_twin(self, plan: Plan, twin: Plan, suite: str) -> Judgement:
        """The same, with the decision held against the one that a run of the twin shows."""
        plan, twin = self.laid(plan), self.laid(twin)
        self._require_reach(plan)
        self._require_reach(twin)
        _, judgement = self._counted(live_beside_twin(self.driver, plan, twin), suite)
        return self._insist(plan, suite, judgement)

    def laid(self, plan: Plan) -> Plan:
        """The plan under what lies over all of them; one that says itself what it is under stays as it is."""
        overlays = self.under.overlays
        return replace(plan, under=overlays) if overlays and isinstance(plan, Plan) and not plan.under else plan

    def reaches(self, plan: Plan) -> bool:
        """It can be lived through here."""
        return unreachable(self.laid(plan), self.spec, self.machine) is None

    def _require_reach(self, plan: Plan) -> None:
        if not isinstance(plan, Plan):
            raise ValueError(f"plan is {plan!r}; expected a Plan ({A_PLAN})")
        reason = unreachable(plan, self.spec, self.machine)
        if reason is not None:
            raise NotRunError(f"not_run: the plan cannot be run on {self.spec.facts.name}: {reason}")

    def _insist(self, plan: Plan, suite: str, judgement: Judgement) -> Judgement:
        if judgement.verdict is not Verdict.PASS:
            raise BrokenMustError(self._complaint(plan, suite, judgement))
        return judgement

    def _complaint(self, plan: Plan, suite: str, judgement: Judgement) -> str:
        lines = [f"{judgement.word} on {self.name}:"]
        for finding in (*judgement.failures, *judgement.unknowns):
            lines += [f"  invariant: {invariant_of(finding.check)} ({finding.check})", f"  showed: {finding.says}"]
        return printable("\n".join([*lines, f"  replay: {kept(plan, suite, self.name)}"]))

    def summary(self) -> list[str]:
        """For the end of a test run: speed, and the histogram that shows what was really judged."""
        lines = [
            f"retryproof: {suite} on {self.name}: {count} examples, {count / self.seconds[suite]:.0f} per second"
            for suite, count in self.lived.items()
        ]
        lines += [f"retryproof: not run: {count} cells: {reason}" for reason, count in self.unreached().items()]
        if self.scripts:
            pairs = (f"{situation} {count}" for situation, count in sorted(self.exercised.items()))
            lines.append(f"retryproof: futures of {self.name}: {self.scripts} scripts: " + ", ".join(pairs))
        if self.of_sdk:
            pairs = (f"{scenario} {count}" for scenario, count in self.of_sdk.items())
            lines.append(f"retryproof: the SDK before {self.name}: {', '.join(pairs)}")
        pairs = (f"{fault} {self.struck[fault]}/{self.judged[fault]}" for fault in sorted(self.struck))
        return [*lines, "retryproof: struck/judged: " + ", ".join(pairs)]


@asynccontextmanager
async def _toxiproxy(supervisor: Supervisor, tell: Tell) -> AsyncIterator[Toxiproxy]:
    """The first that there is, built where a Go is there, or where nothing may be missing. Raises ToxiproxyError."""
    require_client()
    from suites.toxiproxy.succession import Succession  # what it is made of need not be installed

    fetches_go = bool(os.environ.get(NO_SKIP))
    source = await obtain(Builder(supervisor, stage=tell, line=_to_nobody, fetches_go=fetches_go))
    async with Succession.open(supervisor, source) as servers:
        yield servers
