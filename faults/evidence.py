"""Evidence and what it proves. This is the judge's table (authority: the RFCs); a forwarder under test has its
own table of guesses, and the two never share code.
"""

from dataclasses import dataclass
from typing import assert_never

from faults.vocabulary import Class, Sight

# RFC 9110 s15.5.9, s15.5.18 with s10.1.1 (repeat it without the expectation), and s15.5.20; RFC 8470 s5.2
SAFE_STATUSES = frozenset({408, 417, 421, 425})
AMBIGUOUS_STATUSES = frozenset({429})  # RFC 6585 s4 says nothing about whether the request was applied


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the forwarder certainly had in hand: the sight, for a reply (or as much of one) its status and body, and
    the interim responses before it.
    """

    sight: Sight
    status: int | None = None
    body: bytes = b""
    interim: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One answer that claims something of the work: a status and a text that the body contains."""

    status: int
    body: str

    def __post_init__(self) -> None:
        if not 200 <= self.status <= 599:
            raise ValueError(f"status is {self.status!r}; expected 200 to 599")
        if not self.body:
            raise ValueError("body is empty; expected the text that tells this answer from others")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What the router behind a subject publishes as "not accepted"; empty: it publishes nothing."""

    not_accepted: tuple[Marker, ...] = ()

    def __post_init__(self) -> None:
        for marker in self.not_accepted:
            if marker.status < 300:
                raise ValueError(f"not_accepted status is {marker.status!r}; expected 300 to 599 (a 2xx was accepted)")

    def covers(self, evidence: Evidence) -> bool:
        """The contract names exactly this answer: status equal and text contained in the body."""
        return any(
            evidence.status == marker.status and marker.body.encode() in evidence.body for marker in self.not_accepted
        )


NO_CONTRACT = Contract()
REFERENCE_CONTRACT = Contract(not_accepted=(Marker(status=503, body="No available workers"),))


def classify(evidence: Evidence, contract: Contract = NO_CONTRACT) -> Class:
    """SAFE only where the evidence, or the contract, proves that the request was never applied."""
    match evidence.sight:
        case Sight.POOL_WAIT | Sight.IDLE_END | Sight.UNRESOLVED:
            return Class.SAFE  # RFC 9110 s9.2.2: no byte of the request was sent
        case Sight.REFUSED | Sight.UNREACHABLE | Sight.CONNECT_TIMEOUT:
            return Class.SAFE  # RFC 9110 s9.2.2: no byte of the request was sent
        case Sight.TLS_FAILED | Sight.TLS_STALLED:
            return Class.SAFE  # RFC 8446 s2: application data follows the handshake; RFC 8470 s4: no early data is used
        case Sight.TLS_REFUSED:
            return Class.AMBIGUOUS  # RFC 8446 s4.6.2: authentication after the handshake gives the same alert
        case Sight.RESET | Sight.FIN | Sight.TRUNCATION | Sight.ALERT | Sight.SILENCE | Sight.GARBLED:
            return Class.AMBIGUOUS  # RFC 9110 s9.2.2: no means to detect that it was never applied
        case Sight.WHOLE:
            return Class.FINAL  # a 2xx head has been sent: the work ran (RFC 9110 s15.3)
        case Sight.HEAD_CUT | Sight.CUT | Sight.STALL | Sight.FLAWED:
            return _classify_part(evidence)
        case Sight.STATUS:
            return _classify_status(evidence, contract)
        case _:
            assert_never(evidence.sight)


def _classify_part(evidence: Evidence) -> Class:
    """RFC 9112 s8: the message is incomplete, or (s6.3) not to be relied on. What its status line says of the work is
    true all the same; half a body is not the one that a contract names.
    """
    if evidence.status is None:
        return Class.AMBIGUOUS
    return Class.FINAL if evidence.status < 300 else _classify_status(evidence, NO_CONTRACT)


def _classify_status(evidence: Evidence, contract: Contract) -> Class:
    status = evidence.status
    if status is None:
        raise ValueError("evidence of a status without the status; expected 300 to 599")
    if status in SAFE_STATUSES or contract.covers(evidence):
        return Class.SAFE
    if status in AMBIGUOUS_STATUSES or status >= 500:
        return Class.AMBIGUOUS
    return Class.FINAL  # 3xx is not followed; other 4xx are answers (RFC 9110 s15.4, s15.5)
