"""What has come of many scripts."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from suites.findings import Finding, Verdict
from suites.futures.judging import judge_record
from suites.futures.record import Record
from suites.futures.script import Script
from suites.futures.situations import situations_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A script on which a check failed, and what it showed."""

    script: Script
    record: Record
    finding: Finding


@dataclass(slots=True, kw_only=True)
class Played:
    """What has come of all scripts: how many of them and of their steps, what they have exercised, in how many of them
    each check had something to judge, the smallest script on which each failed, and what was not proved. failed_s: when
    (by the monotonic clock) the first must was broken; first_failed: which script that was. stopped: no more
    of them are wanted. on_script: hears of each.
    """

    scripts: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    failing: dict[str, Failing] = field(default_factory=dict)
    unknown: dict[str, Failing] = field(default_factory=dict)
    failed_s: float | None = None
    first_failed: int | None = None
    stopped: bool = False
    on_script: Callable[[], None] = lambda: None

    def add(self, record: Record) -> bool:
        """One script that is over, or failed; True: it broke a must."""
        judgement = judge_record(record)
        self.scripts += 1
        self.on_script()
        self.steps.update(str(step.__struct_config__.tag) for step in record.script.steps)
        self.situations.update(situations_in(record))
        judged = {one.check for one in judgement.findings if one.verdict is not Verdict.UNKNOWN}
        self.judged.update(judged)
        for finding in judgement.failures:
            _keep(self.failing, record, finding)
        for finding in judgement.unknowns:
            _keep(self.unknown, record, finding)
        if judgement.verdict is not Verdict.FAIL:
            return False
        if self.failed_s is None:
            self.failed_s, self.first_failed = time.monotonic(), self.scripts
        return True


def _keep(kept: dict[str, Failing], record: Record, finding: Finding) -> None:
    before = kept.get(finding.check)
    if before is None or len(record.script.steps) < len(before.script.steps):
        kept[finding.check] = Failing(script=record.script, record=record, finding=finding)
