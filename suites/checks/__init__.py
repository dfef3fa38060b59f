"""The checks: one property each, pure functions of a finished run."""

from suites.checks import (
    answered,
    at_most_once,
    caller_left,
    heals,
    honest_failure,
    intact_request,
    no_garbage,
    no_leak,
    own_result,
    retrievable,
    safe_retry,
    safe_retry_made,
    survives,
    tells,
    vacuity,
    verifies,
)
from suites.checks.check import Check
from suites.findings import Claim

CHECKS: tuple[Check, ...] = (
    at_most_once.CHECK,
    safe_retry.CHECK,
    intact_request.CHECK,
    own_result.CHECK,
    no_garbage.CHECK,
    honest_failure.CHECK,
    answered.CHECK,
    retrievable.CHECK,
    survives.CHECK,
    heals.CHECK,
    no_leak.CHECK,
    safe_retry_made.CHECK,
    verifies.CHECK,
    vacuity.CHECK,
    tells.CHECK,
    caller_left.CHECK,
)

TELLS_NAMES = frozenset(check.name for check in CHECKS if check.claim is Claim.TELLS)
