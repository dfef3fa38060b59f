"""The checks of futures: one property each, pure functions of a record."""

from suites.futures.checks.check import FuturesCheck
from suites.futures.checks.containers import DONE, SAFE_IS_TOLD, SERVED_AGAIN
from suites.futures.checks.crash import NEVER_SENT_AGAIN, NOTHING_FORGOTTEN, UNKNOWN_AFTER_CRASH
from suites.futures.checks.executions import AT_MOST_ONCE, REFUSED_RUNS_NOTHING
from suites.futures.checks.ids import GONE_STAYS_GONE, HONEST_IDS, UNIQUE_IDS, WHOLE_ANSWERS
from suites.futures.checks.instrument import LIVED_THROUGH
from suites.futures.checks.keys import FIRST_ID, FRESH_TAKEN, OTHER_CONTENT
from suites.futures.checks.outcomes import HONEST_FAILURES, RESULT_KEPT
from suites.futures.checks.results import OWN_RESULT, SAME_BYTES
from suites.futures.checks.retrieval import DELIVERED, NOT_YET, UNDELIVERED, WHOLE_TTL
from suites.futures.checks.room import BOUNDED
from suites.futures.checks.waiting import COMES_TO_REST, ENDS, NOBODY_WAITS, NOTHING_LEFT_BEHIND

CHECKS: tuple[FuturesCheck, ...] = (
    AT_MOST_ONCE,
    REFUSED_RUNS_NOTHING,
    UNDELIVERED,
    DELIVERED,
    WHOLE_TTL,
    NOT_YET,
    RESULT_KEPT,
    HONEST_FAILURES,
    SAME_BYTES,
    OWN_RESULT,
    HONEST_IDS,
    UNIQUE_IDS,
    GONE_STAYS_GONE,
    WHOLE_ANSWERS,
    FIRST_ID,
    OTHER_CONTENT,
    FRESH_TAKEN,
    BOUNDED,
    NOBODY_WAITS,
    NOTHING_LEFT_BEHIND,
    COMES_TO_REST,
    ENDS,
    NEVER_SENT_AGAIN,
    UNKNOWN_AFTER_CRASH,
    NOTHING_FORGOTTEN,
    SERVED_AGAIN,
    SAFE_IS_TOLD,
    DONE,
    LIVED_THROUGH,
)
