"""A script that the instrument could not live through proves nothing."""

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.record import Broke, Record


def lived_through(record: Record) -> list[Finding]:
    """What broke down on the way is UNKNOWN, never FAIL."""
    broke = [fact for fact in record.facts if isinstance(fact, Broke)]
    if broke:
        return [LIVED_THROUGH.cannot_know(f"step {fact.step}: {fact.says}") for fact in broke]
    return [LIVED_THROUGH.passes(count_of(len(record.script.steps), "step"))] if record.script.steps else []


LIVED_THROUGH = must("lived-through", "Every step of the script was lived through.", lived_through)
