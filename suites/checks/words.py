"""What findings call attempts and evidence."""

from typing import assert_never

from faults.evidence import Evidence
from faults.vocabulary import Sight
from suites.attempts import Attempt


def words_of(evidence: Evidence) -> str:
    """Evidence as a noun phrase: it follows "after"."""
    if not evidence.interim:
        return _seen(evidence)
    return f"{', '.join(map(str, evidence.interim))} and then {_seen(evidence)}"


def _seen(evidence: Evidence) -> str:
    match evidence.sight:
        case Sight.IDLE_END:
            return "the end of an idle connection"
        case Sight.REFUSED:
            return "a refused connection"
        case Sight.POOL_WAIT:
            return "a wait for a connection of its own pool"
        case Sight.UNRESOLVED:
            return "a name that was not resolved"
        case Sight.UNREACHABLE:
            return "an unreachable host"
        case Sight.CONNECT_TIMEOUT:
            return "a connect timeout"
        case Sight.TLS_FAILED:
            return "a failed TLS handshake"
        case Sight.TLS_STALLED:
            return "a TLS handshake that was not completed in time"
        case Sight.TLS_REFUSED:
            return "a TLS handshake that was refused after it looked complete"
        case Sight.RESET:
            return "a reset before any reply byte"
        case Sight.FIN:
            return "a FIN before any reply byte"
        case Sight.TRUNCATION:
            return "a FIN without a close_notify before any reply byte"
        case Sight.ALERT:
            return "a fatal TLS alert before any reply byte"
        case Sight.SILENCE:
            return "silence until the read timeout"
        case Sight.GARBLED:
            return "bytes that are no HTTP reply"
        case Sight.HEAD_CUT:
            said = "before its status" if evidence.status is None else f"with status {evidence.status}"
            return f"a reply {said} that was cut inside its head"
        case Sight.FLAWED:
            return f"a reply with status {evidence.status} that is written wrongly"
        case Sight.STALL:
            return f"a reply with status {evidence.status} that stalled after its head"
        case Sight.STATUS:
            return f"a whole reply with status {evidence.status}"
        case Sight.CUT:
            return f"a reply with status {evidence.status} that was cut"
        case Sight.WHOLE:
            return f"a whole reply with status {evidence.status}"
        case _:
            assert_never(evidence.sight)


def name_of(attempt: Attempt) -> str:
    """An attempt by its place in the operation, and where it went."""
    return f"attempt {attempt.place} on upstream {attempt.upstream}"


def count_of(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
