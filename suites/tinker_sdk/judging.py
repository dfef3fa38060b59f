"""From what a scenario left behind to what is wrong with it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from fake_router.entries import AnyEntry, Struck
from suites.attempts import Attempt
from suites.reader import Reader
from suites.tinker_sdk.expected import expected_of
from suites.tinker_sdk.orders import Asking, Raised, Returned

INVARIANT = "Whatever becomes of its polls and submits, the SDK returns the right result, and the work runs once."
FAILED = "RequestFailedError"  # what the SDK raises for a failed future


class Expect(StrEnum):
    """How an operation may end."""

    RESULT = "result"
    FAILURE = "failure"  # of its future: the work was done, or may have been, and there is no result
    EITHER = "either"  # a failure where nothing was executed


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call of the SDK. number: of its operation; answer None: it has not returned yet."""

    order: Asking
    number: int
    answer: Returned | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkRecord:
    """A scenario lived through. strikes: how many faults must have struck."""

    asked: tuple[Asked, ...]
    ledger: tuple[AnyEntry, ...]
    expects: Expect = Expect.RESULT
    strikes: int = 0


def wrong_in(record: SdkRecord) -> list[str]:
    """What is wrong with it, a sentence each."""
    attempts = Reader.of(record.ledger).attempts
    found = [] if record.asked else ["nothing was asked; expected one call at least"]
    struck = sum(isinstance(entry, Struck) for entry in record.ledger)
    if struck < record.strikes:
        found.append(f"{struck} faults have struck; expected {record.strikes}: nothing is shown")
    for asked in record.asked:
        own = [attempt for attempt in attempts if attempt.operation == asked.number and attempt.execution is not None]
        if len(own) > 1:
            found.append(f"operation {asked.number} was executed {len(own)} times; expected once")
        found += _wrong_with(asked, own, record.expects)
    return found


def _wrong_with(asked: Asked, executed: Sequence[Attempt], expects: Expect) -> list[str]:
    who = f"operation {asked.number}"
    match asked.answer:
        case None:
            return [f"{who}: its caller still waits"]
        case Raised(error=error, says=says):
            if expects is Expect.RESULT or error != FAILED:
                expected = "a result" if expects is Expect.RESULT else FAILED
                return [f"{who}: its caller got {error}: {says}; expected {expected}"]
            if expects is Expect.EITHER and executed:
                return [f"{who} was executed, and its caller got {error}: {says}; expected the result"]
            return []
        case answer:
            if expects is Expect.FAILURE:
                return [f"{who}: its caller got {answer!r}; expected {FAILED}: the router gave no result"]
            made = [expected_of(asked.order, asked.number, attempt) for attempt in executed]
            return [] if answer in made else [f"{who}: its caller got {answer!r}; expected {made!r}"]
