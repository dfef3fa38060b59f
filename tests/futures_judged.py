"""Small records for each check of futures: in which it holds, in which it does not, and which show it nothing."""

from faults.disturbance import Disturbing
from suites.futures.record import Answer, Kind, Record
from suites.futures.steps import Loss, Other
from suites.tinker.open_call import Departure
from tests.futures_records import (
    AGAIN,
    AS_JSON,
    BUSY,
    FAILED,
    GONE,
    NOT_RUN,
    NOTHING,
    OTHERS,
    REFUSED,
    RESULT,
    ask,
    at,
    beaten,
    began,
    broke,
    calmed,
    counted,
    disturbed,
    ended,
    hung,
    landed,
    left,
    reached,
    read,
    received,
    record,
    restarted,
    resubmit,
    served,
    silent,
    struck,
    submit,
    taken,
)

_OTHER = Answer(kind=Kind.RESULT, status=200, body=b"two", operation=1001, execution=1)
_STRANGE = Answer(kind=Kind.RESULT, status=200, body=b"one", operation=1002, execution=1)
_EMPTY = Answer(kind=Kind.OTHER, status=200)
_410 = Answer(kind=Kind.OTHER, status=410, says="gone")
_CONFLICT = Answer(kind=Kind.REFUSED, status=409, says="conflict")
_DELIVERED = (submit(), landed(), ask(), reached(), read(RESULT))
_UNREAD = (submit(), ask(), landed(), reached(), left(Departure.RESET))
_STRUCK = (disturbed(), calmed())
_CRASHED = (submit(), ended(killed=True), began(kept=True))

GOOD: dict[str, list[Record]] = {
    "at-most-once": [
        record(submit(), resubmit(taken("70")), ledger=served()),
        record(submit(lost=Loss.UNREAD), resubmit(taken("70"))),
    ],
    "refused-runs-nothing": [record(submit(), resubmit(REFUSED, other=Other.PROMPT), ledger=served())],
    "undelivered-is-retrievable": [
        record(submit(), landed(), at(999, ask()), reached(), read(RESULT)),
        record(submit(), ask(), left(), at(5, landed()), at(1_004, ask(1)), reached(1), read(FAILED, 1)),
        record(submit(), landed(), ask(), reached(), read(NOTHING)),
    ],
    "delivered-stays": [
        record(*_DELIVERED, at(99, ask(1)), reached(1), read(RESULT, 1)),
        record(submit(), ask(), left(Departure.VANISH), landed(), at(99, ask(1)), reached(1), read(RESULT, 1)),
        record(*_DELIVERED, at(99, ask(1)), reached(1), at(198, ask(2)), reached(2), read(RESULT, 2)),
        record(
            submit(), ask(), landed(), reached(), left(Departure.RESET), at(99, ask(1)), reached(1), read(RESULT, 1)
        ),
    ],
    "whole-ttl": [
        record(submit(), landed(), at(999, ask()), reached(), read(RESULT)),
        record(*_DELIVERED, at(99, ask(1)), reached(1), read(RESULT, 1)),
    ],
    "not-yet": [record(submit(), ask(), at(100, reached()), read(AGAIN))],
    "result-kept": [
        record(*_DELIVERED, ledger=served()),
        record(submit(), ended(killed=True), began(kept=True), ask(), read(FAILED), ledger=served()),
        record(submit(), *_STRUCK, landed(), ask(), read(FAILED), ledger=served()),
        record(disturbed(), submit(), landed(), calmed(), ask(), read(FAILED), ledger=served()),
    ],
    "honest-failures": [
        record(submit(), landed(), ask(), reached(), read(FAILED), ledger=(*served(), *struck())),
        record(submit(), landed(), ask(), reached(), read(NOT_RUN), ledger=received()),
    ],
    "same-bytes": [
        record(*_DELIVERED, ask(1), reached(1), read(RESULT, 1)),
        record(*_DELIVERED, ask(1), read(AS_JSON, 1), ask(2), read(AS_JSON, 2)),
        record(submit(), landed(), ask(), read(FAILED), ask(1), read(FAILED, 1)),
    ],
    "own-result": [record(*_DELIVERED, ledger=served())],
    "honest-ids": [
        record(*_DELIVERED, at(100, ask(1)), reached(1), read(GONE, 1)),
        record(ask(-1, None, "12"), read(GONE, -1)),
        record(ask(-1, None, "x"), read(REFUSED, -1)),
        record(submit(), began(kept=False), ask(), read(GONE)),
    ],
    "unique-ids": [record(submit(), submit(operation=1))],
    "gone-stays-gone": [record(*_DELIVERED, at(100, ask(1)), read(GONE, 1), ask(2), read(GONE, 2))],
    "whole-answers": [
        record(*_DELIVERED),
        record(submit(), ask(), ended(killed=True), read(NOTHING)),
    ],
    "first-id": [
        record(submit(), resubmit(taken("70"))),
        record(*_DELIVERED, at(400, resubmit(taken("70")))),
        record(submit(), at(500, resubmit(GONE)), resubmit(taken("70"))),
        record(submit(), at(499, beaten()), at(998, resubmit(taken("70")))),
    ],
    "other-content": [record(submit(), resubmit(REFUSED, other=Other.SEED))],
    "fresh-taken": [record(submit()), record(submit(BUSY)), record(submit(), at(500, submit(GONE, 1)))],
    "bounded": [record(submit(BUSY), counted(stored_bytes=9), max_bytes=9)],
    "nobody-waits": [
        record(submit(), ask(), counted(1), landed(), reached(), counted()),
        record(submit(), ask(), at(99, counted(1)), at(100, reached()), counted()),
    ],
    "nothing-left-behind": [
        record(submit(), ask(), ask(1), left(poll=1), counted(1)),
        record(submit(), ask(), left(Departure.VANISH), counted(1)),
    ],
    "comes-to-rest": [record(submit(), counted())],
    "ends": [record(ended(), began(kept=False)), record(ended("was killed by SIGTERM"))],
    "never-sent-again": [
        record(*_CRASHED, ledger=(*received(), *restarted())),
        record(*_CRASHED, ledger=(*received(), *restarted(), *received(1, exchange=2))),
    ],
    "unknown-after-crash": [
        record(*_CRASHED, ask(), reached(), read(FAILED), ledger=received()),
        record(*_CRASHED, ask(), reached(), read(NOT_RUN)),
    ],
    "nothing-forgotten": [record(*_CRASHED, ask(), reached(), read(FAILED))],
    "served-again": [record(*_STRUCK, *_DELIVERED, ledger=served())],
    "safe-is-told": [record(disturbed(), submit(), landed(), ask(), reached(), read(NOT_RUN), calmed())],
    "container-struck": [record(submit(), *_STRUCK)],
    "lived-through": [record(submit())],
}

BAD: dict[str, list[Record]] = {
    "at-most-once": [record(submit(), resubmit(taken("71")), ledger=(*served(), *served(exchange=2)))],
    "refused-runs-nothing": [
        record(submit(), resubmit(REFUSED, other=Other.PROMPT), ledger=received(number=OTHERS[0])),
        record(submit(BUSY), ledger=received()),
    ],
    "undelivered-is-retrievable": [
        record(submit(), landed(), at(999, ask()), reached(), read(GONE)),
        record(submit(), ask(), left(Departure.RESET), landed(), at(200, ask(1)), reached(1), read(GONE, 1)),
        record(submit(), landed(), ask(), reached(), read(AGAIN)),
    ],
    "delivered-stays": [
        record(*_DELIVERED, at(99, ask(1)), reached(1), read(GONE, 1)),
        record(submit(), ask(), left(crossing=True), landed(), at(99, ask(1)), reached(1), read(GONE, 1)),
        record(*_DELIVERED, at(99, ask(1)), reached(1), at(198, ask(2)), reached(2), read(GONE, 2)),
    ],
    "whole-ttl": [record(*_DELIVERED, at(99, ask(1)), reached(1), read(GONE, 1))],
    "not-yet": [record(submit(), ask(), reached(), read(FAILED))],
    "result-kept": [
        record(submit(), landed(), ask(), reached(), read(FAILED), ledger=served()),
        record(submit(), landed(), *_STRUCK, ask(), reached(), read(FAILED), ledger=served()),
    ],
    "honest-failures": [record(submit(), landed(), ask(), reached(), read(NOT_RUN), ledger=served())],
    "same-bytes": [
        record(*_DELIVERED, ask(1), reached(1), read(_OTHER, 1)),
        record(*_DELIVERED, ask(1), read(AS_JSON, 1), ask(2), read(FAILED, 2)),
        record(*_DELIVERED, ended(killed=True), began(kept=True), ask(1), read(FAILED, 1)),
    ],
    "own-result": [
        record(submit(), landed(), ask(), reached(), read(_STRANGE), ledger=served()),
        record(*_DELIVERED, ledger=served(exchange=2)),
        record(*_DELIVERED),
    ],
    "honest-ids": [
        record(*_DELIVERED, at(100, ask(1)), reached(1), read(_410, 1)),
        record(*_DELIVERED, at(100, ask(1)), reached(1), read(_EMPTY, 1)),
        record(ask(-1, None, "12"), read(AGAIN, -1)),
        record(ask(-1, None, "x"), read(GONE, -1)),
        record(submit(), began(kept=False), ask(), read(AGAIN)),
        record(*_DELIVERED, at(100, ask(1)), read(Answer(kind=Kind.GONE, status=404), 1)),
    ],
    "unique-ids": [record(submit(), began(kept=False), submit(taken("70"), 1))],
    "gone-stays-gone": [record(*_DELIVERED, at(100, ask(1)), read(GONE, 1), ask(2), read(RESULT, 2))],
    "whole-answers": [
        record(submit(), ask(), ended(), read(NOTHING)),
        record(submit(), ask(), read(NOTHING)),
    ],
    "first-id": [
        record(submit(), resubmit(taken("71"))),
        record(*_DELIVERED, at(400, resubmit(GONE))),
        record(submit(), at(499, beaten()), at(998, resubmit(GONE))),
        record(submit(), at(500, resubmit(taken("71")))),
    ],
    "other-content": [
        record(submit(), resubmit(_CONFLICT, other=Other.PROMPT)),
        record(submit(), resubmit(taken("70"), other=Other.PROMPT)),
    ],
    "fresh-taken": [record(submit(_CONFLICT)), record(submit(GONE))],
    "bounded": [record(submit(), counted(stored_bytes=10), max_bytes=9)],
    "nobody-waits": [
        record(submit(), ask(), ask(1), landed(), reached(), counted(1)),
        record(submit(), ask(), at(100, counted(1))),
        record(submit(), ask(), landed(), silent(), clock=False),
    ],
    "nothing-left-behind": [record(submit(), ask(), left(), counted(1))],
    "comes-to-rest": [record(submit(), counted(), hung())],
    "ends": [record(ended("")), record(ended("was killed by SIGSEGV"))],
    "never-sent-again": [record(*_CRASHED, ledger=(*received(), *restarted(), *received(exchange=2)))],
    "unknown-after-crash": [
        record(*_CRASHED, ask(), reached(), read(RESULT), ledger=received()),
        record(*_CRASHED, ask(), reached(), read(NOT_RUN), ledger=received()),
    ],
    "nothing-forgotten": [record(*_CRASHED, ask(), reached(), read(GONE))],
    "served-again": [record(*_STRUCK, submit(), landed(), ask(), reached(), read(one)) for one in (FAILED, NOT_RUN)],
    "safe-is-told": [record(disturbed(), submit(), landed(), calmed(), ask(), reached(), read(FAILED))],
}

EMPTY: dict[str, list[Record]] = {
    "at-most-once": [record()],
    "refused-runs-nothing": [record(submit(), ledger=served())],
    "undelivered-is-retrievable": [
        record(submit(), landed(), at(1_000, ask()), reached(), read(GONE)),
        record(submit(), landed(), ask(), left()),
    ],
    "delivered-stays": [record(*_DELIVERED, at(100, ask(1)), reached(1), read(GONE, 1))],
    "whole-ttl": [
        record(*_DELIVERED, at(98, ask(1)), reached(1), read(RESULT, 1)),
        record(*_DELIVERED, at(100, ask(1)), reached(1), read(GONE, 1)),
    ],
    "not-yet": [record(*_DELIVERED)],
    "result-kept": [record(submit(), landed(), ask(), reached(), read(FAILED), ledger=(*served(), *struck()))],
    "honest-failures": [record(*_DELIVERED)],
    "same-bytes": [record(*_DELIVERED), record(*_DELIVERED, ask(1), read(AS_JSON, 1))],
    "own-result": [record(submit(), landed(), ask(), reached(), read(FAILED))],
    "honest-ids": [record(submit(), ask())],
    "unique-ids": [record(submit(), resubmit(taken("70")))],
    "gone-stays-gone": [record(*_DELIVERED)],
    "whole-answers": [record(submit(), ask(), left())],
    "first-id": [record(submit()), record(submit(lost=Loss.AT_ONCE), resubmit(taken("70")))],
    "other-content": [record(submit()), record(submit(lost=Loss.AT_ONCE), resubmit(taken("70"), other=Other.SEED))],
    "fresh-taken": [record(submit(lost=Loss.UNREAD))],
    "bounded": [record(submit(), counted(stored_bytes=9), max_bytes=9), record(submit(), counted(stored_bytes=9))],
    "nobody-waits": [record(submit(), ask(), counted(1)), record(submit(), ask(), left(), landed(), counted())],
    "nothing-left-behind": [record(submit(), ask(), counted(1))],
    "comes-to-rest": [record(submit(), broke())],
    "ends": [record(ended("was killed by SIGKILL", killed=True))],
    "never-sent-again": [record(submit(), ledger=served())],
    "unknown-after-crash": [
        record(*_DELIVERED, ended(killed=True), began(kept=True), ask(1), read(RESULT, 1)),
        record(submit(), ask(), ended(), reached(), read(REFUSED), began(kept=False)),
        record(submit(), ask(), ended(), reached(), read(REFUSED), began(kept=True)),
    ],
    "nothing-forgotten": [record(submit(), ended(), began(kept=False), ask(), read(GONE))],
    "served-again": [
        record(submit(), *_STRUCK, landed(), ask(), reached(), read(FAILED)),
        record(disturbed(), submit(), landed(), calmed(), ask(), reached(), read(NOT_RUN)),
        record(*_STRUCK, submit(), ended(killed=True), began(kept=True), ask(), reached(), read(FAILED)),
        record(*_STRUCK, submit(), landed(), ask(), reached(), read(FAILED), ledger=(*served(), *struck())),
        record(submit(), landed(), ask(), reached(), read(FAILED)),
    ],
    "safe-is-told": [
        record(disturbed(), submit(), landed(), ask(), reached(), read(FAILED), ledger=received()),
        record(disturbed(Disturbing.PAUSE), submit(), landed(), ask(), reached(), read(FAILED)),
        record(submit(), disturbed(), landed(), ask(), reached(), read(FAILED)),
    ],
    "container-struck": [record(submit())],
    "lived-through": [],
}
