"""The verdict on each property, over all scripts of a suite. Pure."""

from suites.checks.words import count_of
from suites.findings import Verdict
from suites.futures.checks.check import FuturesCheck
from suites.futures.suite import Suite


def verdict_on(suite: Suite, check: FuturesCheck) -> tuple[Verdict | None, str]:
    """A property that no script has exercised is UNKNOWN; None: it cannot be shown there. The reason stands beside all
    but PASS and FAIL.
    """
    played = suite.played
    if check.name in played.failing:
        return Verdict.FAIL, ""
    if check.name in played.unknown:
        return Verdict.UNKNOWN, played.unknown[check.name].finding.says
    if played.judged[check.name]:
        return Verdict.PASS, ""
    powers = suite.powers
    missing = (check.needs_clock and powers.no_clock) or (check.needs_restart and powers.no_restart)
    if missing:
        return None, missing
    return Verdict.UNKNOWN, f"{count_of(played.scripts, 'script')} held nothing that it is about"
