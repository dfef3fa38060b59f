"""The verdict on each property, over all scripts of a suite. Pure."""

from suites.checks.words import count_of
from suites.findings import Verdict
from suites.futures.checks.check import FuturesCheck
from suites.futures.host import Powers
from suites.futures.suite import Suite


def verdict_on(suite: Suite, check: FuturesCheck) -> tuple[Verdict | None, str]:
    """A property that no script has exercised is UNKNOWN; None: it cannot be shown there. The reason stands beside all
    but PASS and FAIL.
    """
    played = suite.played
    if suite.not_run:
        return None, suite.not_run
    if check.name in played.failing:
        return Verdict.FAIL, ""
    if check.name in played.unknown:
        return Verdict.UNKNOWN, played.unknown[check.name].finding.says
    if played.judged[check.name]:
        return Verdict.PASS, ""
    if missing := _missing(check, suite.powers):
        return None, missing
    return Verdict.UNKNOWN, f"{count_of(played.scripts, 'script')} held nothing that it is about"


def _missing(check: FuturesCheck, powers: Powers) -> str:
    """What the property cannot be shown without; empty where all is there."""
    needed = (
        (check.needs_clock, powers.no_clock),
        (check.needs_restart, powers.no_restart),
        (check.needs_room, powers.no_room),
        (check.needs_container, powers.no_container),
        (check.needs_store, powers.no_restart or powers.no_sqlite),
    )
    return next((why for needs, why in needed if needs and why), "")
