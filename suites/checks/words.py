"""What findings call attempts and evidence."""

from collections.abc import Mapping

from faults.evidence import Evidence
from faults.vocabulary import Sight
from suites.attempts import Attempt

WORDS: Mapping[Sight, str] = {
    Sight.IDLE_END: "the end of an idle connection",
    Sight.REFUSED: "a refused connection",
    Sight.POOL_WAIT: "a wait for a connection of its own pool",
    Sight.UNRESOLVED: "a name that was not resolved",
    Sight.UNREACHABLE: "an unreachable host",
    Sight.CONNECT_TIMEOUT: "a connect timeout",
    Sight.TLS_FAILED: "a failed TLS handshake",
    Sight.TLS_STALLED: "a TLS handshake that was not completed in time",
    Sight.TLS_REFUSED: "a TLS handshake that was refused after it looked complete",
    Sight.RESET: "a reset before any reply byte",
    Sight.FIN: "a FIN before any reply byte",
    Sight.TRUNCATION: "a FIN without a close_notify before any reply byte",
    Sight.ALERT: "a fatal TLS alert before any reply byte",
    Sight.SILENCE: "silence until the read timeout",
    Sight.GARBLED: "bytes that are no HTTP reply",
    Sight.HEAD_CUT: "a reply {status} that was cut inside its head",
    Sight.FLAWED: "a reply {status} that is written wrongly",
    Sight.STALL: "a reply {status} that stalled after its head",
    Sight.STATUS: "a whole reply {status}",
    Sight.CUT: "a reply {status} that was cut",
    Sight.WHOLE: "a whole reply {status}",
}


def words_of(evidence: Evidence) -> str:
    """Evidence as a noun phrase: it follows "after"."""
    status = "before its status" if evidence.status is None else f"with status {evidence.status}"
    seen = WORDS[evidence.sight].format(status=status)
    return f"{', '.join(map(str, evidence.interim))} and then {seen}" if evidence.interim else seen


def name_of(attempt: Attempt) -> str:
    """An attempt by its place in the operation, and where it went."""
    return f"attempt {attempt.place} on upstream {attempt.upstream}"


def count_of(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
