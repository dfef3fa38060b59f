"""What a caller of the Tinker protocol may believe of the answer that ended its operation."""

from collections.abc import Sequence

from faults.evidence import Marker
from suites.history import Kind, Outcome
from suites.reading import Reply
from suites.tinker.answers import FutureFailed, Gone, Lost, NotYet, PollAnswer, Refused, Sampled, Size, SubmitAnswer


def outcome_in(answer: SubmitAnswer | PollAnswer, number: int, not_executed: Sequence[Marker]) -> Outcome:
    """The outcome of the operation of that number. What failed claims "not executed" where these answers do; a result
    of another number of sequences than was asked for is believed, and holds no tokens of its own.
    """
    reply = answer.reply
    kind, says, tokens, logprobs = Kind.UNKNOWN, reply.says, None, None
    match answer:
        case Sampled(sample=sample):
            only = sample.sequences[0] if len(sample.sequences) == 1 else None
            kind, tokens = Kind.OK, () if only is None else only.tokens
            logprobs = () if only is None else only.logprobs
            says = "" if only is not None else f"{len(sample.sequences)} sequences"
        case FutureFailed() | Gone() | Refused():
            kind, says = (Kind.FAILED if _claims(reply, not_executed) else Kind.UNKNOWN), answer.says
        case Lost() | NotYet() | Size():
            pass
        case _:  # Submitted: it is polled for
            raise ValueError(f"{answer!r}; expected an answer that ends an operation")
    return Outcome(
        operation=number,
        kind=kind,
        arrival=reply.arrival,
        status=reply.status,
        body=reply.body,
        behind=reply.behind,
        tokens=tokens,
        logprobs=logprobs,
        says=says,
    )


def _claims(reply: Reply, not_executed: Sequence[Marker]) -> bool:
    return any(reply.status == marker.status and marker.body.encode() in reply.body for marker in not_executed)
