"""What a failed forward amounts to for a caller: no more than the evidence proves."""

from dataclasses import dataclass

from forwarder.errors import (
    ForwardError,
    MayHaveRunError,
    NotExecutedError,
    RejectedError,
    RequestError,
    ResultLostError,
    is_timeout,
)
from forwarder.futures.outcome import Executed, Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The status of an answer that says so, what it is in one word, its message, and whether the work was done."""

    status: int
    kind: str
    says: str
    executed: Executed
    attempts: int


def failure_of(error: ForwardError | RequestError) -> Failure:
    """The one that this error is."""
    match error:
        case RequestError():
            return Failure(status=400, kind="bad_request", says=str(error), executed=Executed.NO, attempts=0)
        case NotExecutedError():
            status, kind, executed = 503, "not_executed", Executed.NO
        case MayHaveRunError():
            status = 504 if is_timeout(error.evidence) else 502
            kind, executed = "may_have_run", Executed.UNKNOWN
        case ResultLostError():
            status, kind, executed = 502, "result_lost", Executed.YES
        case RejectedError():
            status = error.evidence.status or 502
            if status < 400:
                status = 502  # a redirect is between the router and us; the caller could not follow it
            kind, executed = "rejected", Executed.UNKNOWN
        case _:
            raise error
    return Failure(status=status, kind=kind, says=error.says, executed=executed, attempts=error.attempts)


def outcome_of(failure: Failure) -> Failed:
    """What is kept of it in a future. The router turns down what a user asked for; all else is a server's failure."""
    category = "user" if failure.kind in ("bad_request", "rejected") else "server"
    return Failed(says=failure.says, category=category, executed=failure.executed, status=failure.status)
