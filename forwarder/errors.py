"""How a forward ends when it does not end well: each error claims exactly what the evidence proves."""

from collections.abc import Sequence

from forwarder.evidence import Evidence, Kind, Proves


class RequestError(ValueError):
    """The caller's request cannot be forwarded as it is; nothing was sent."""


class ForwardError(Exception):
    """A forward without a result. `failures` holds the evidence of every attempt in order, `evidence` the one
    that decided, and `says` is the message.
    """

    claim = "failed"

    def __init__(self, evidence: Evidence, failures: Sequence[Evidence]) -> None:
        self.evidence = evidence
        self.failures = tuple(failures)
        self.attempts = len(self.failures)
        times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
        self.says = f"{self.claim} ({times}): {evidence.says}"
        super().__init__(self.says)


class NotExecutedError(ForwardError):
    """The evidence of every attempt proves that the request was never applied. The caller may send it again."""

    claim = "not executed"


class MayHaveRunError(ForwardError):
    """Nothing proves whether the request was applied. To send it again may run it twice."""

    claim = "may have run"


class ResultLostError(ForwardError):
    """The router answered with a 2xx: the request was executed, and its result is lost."""

    claim = "executed, result lost"


class RejectedError(ForwardError):
    """The router answered, with a 4xx or a redirect. `evidence.status` is its status."""

    claim = "rejected by the router"


def error_for(failures: Sequence[Evidence]) -> ForwardError:
    """The error that these failures amount to, in the order in which they happened.

    One attempt that proves nothing is enough to lose the claim "not executed", whatever came after it.
    """
    last = failures[-1]
    match last.proves:
        case Proves.EXECUTED:
            return ResultLostError(last, failures)
        case Proves.ANSWERED:
            return RejectedError(last, failures)
        case Proves.NOT_EXECUTED | Proves.NOTHING:
            pass
    doubtful = [failure for failure in failures if failure.proves is not Proves.NOT_EXECUTED]
    if doubtful:
        return MayHaveRunError(doubtful[-1], failures)
    return NotExecutedError(last, failures)


def is_timeout(evidence: Evidence) -> bool:
    """The router was connected and then silent for longer than the read timeout."""
    return evidence.kind is Kind.SILENCE
