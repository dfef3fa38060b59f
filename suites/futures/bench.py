"""The suite of futures under pytest: played once on the subject of a bench, and asked for each property."""

import asyncio
from dataclasses import dataclass

from suites.bench import Bench
from suites.failing_plans import kept_script
from suites.findings import Verdict
from suites.futures.checks.check import FuturesCheck
from suites.futures.judging import invariant_of
from suites.futures.suite import Suite, play_suite, suite_for
from suites.futures.verdicts import verdict_on
from suites.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class FuturesBench:
    """What came of the suite."""

    name: str
    suite: Suite

    @staticmethod
    def play(bench: Bench) -> "FuturesBench":
        """As many drawn scripts as the bench has examples. Raises SubjectError where the subject cannot be had."""

        async def play() -> Suite:
            await bench.driver.stages.close()  # of a subject that stands, the router is where that of the scripts is
            suite = suite_for(bench.driver.subject, examples=bench.examples, seed_number=0)
            await play_suite(suite, bench.driver.subject, bench.driver.routers)
            return suite

        suite = asyncio.run_coroutine_threadsafe(play(), bench.loop).result()
        bench.exercised.update(suite.played.situations)
        bench.scripts += suite.played.scripts
        return FuturesBench(name=bench.name, suite=suite)

    def verdict_of(self, check: FuturesCheck) -> tuple[Verdict | None, str]:
        """The verdict, and what a person is told; None: it cannot be shown there, for that reason."""
        verdict, reason = verdict_on(self.suite, check)
        failing = self.suite.played.failing.get(check.name)
        if failing is None:
            return verdict, reason
        lines = [
            f"FAIL on {self.name}:",
            f"  invariant: {invariant_of(check.name)} ({check.name})",
            f"  showed: {failing.finding.says}",
            f"  replay: {kept_script(failing.script, check.name, self.name)}",
        ]
        return verdict, printable("\n".join(lines))
