"""The table of the guess: what a forwarder has in hand when an attempt fails, and what that proves.

Pure, and classified by *phase*. A client's exception classes do not tell the phases apart (one class covers a
refused connect and a reset after sending), so the transport settles one fact first: was a connection handed to
the request? Before that, not a byte of the request can have been written; after it, any byte may have been.
RFC 9110 s9.2.2 lets a request that is not idempotent be sent again only with some means to detect that the
original was never applied.
"""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

EXCERPT_BYTES = 200


class Proves(StrEnum):
    """What a kind of evidence proves about the work."""

    NOT_EXECUTED = "not executed"  # it was never applied: it may be sent again
    NOTHING = "nothing"  # it may or may not have run
    EXECUTED = "executed"  # a 2xx says so (RFC 9110 s15.3); only its result is lost
    ANSWERED = "answered"  # the router has answered, and sending again would get the same answer


class Kind(StrEnum):
    """How an attempt failed, in wire order."""

    UNSENT = "no connection was handed to the request"
    DNS = "the name did not resolve"
    CONNECT = "the connection failed"
    CONNECT_TIMEOUT = "the connection was not established in time"
    TLS = "the TLS handshake failed"
    RESET = "the connection broke before an answer"
    CLOSED = "the connection was closed before an answer"
    SILENCE = "no answer in time"
    GARBLED = "bytes that are no HTTP answer"
    NOT_ACCEPTED = "an answer that the router's contract names as not accepted"
    NOT_APPLIED = "a status that says not applied"
    THROTTLED = "too many requests"
    SERVER_ERROR = "a server error"
    ODD_STATUS = "a status that HTTP does not define as final"
    REDIRECT = "a redirect, not followed"
    CLIENT_ERROR = "the request was rejected"
    RESULT_CUT = "a success whose body was cut"
    RESULT_INVALID = "a success that is no valid result"


_UNWRITTEN = "no byte of the request was written (RFC 9110 s9.2.2)"
_WRITTEN = "bytes of the request may have been written, and nothing tells whether it was applied (RFC 9110 s9.2.2)"
_RAN = "a 2xx says that the request was accepted (RFC 9110 s15.3)"

TABLE: MappingProxyType[Kind, tuple[Proves, str]] = MappingProxyType(
    {
        Kind.UNSENT: (Proves.NOT_EXECUTED, _UNWRITTEN),
        Kind.DNS: (Proves.NOT_EXECUTED, _UNWRITTEN),
        Kind.CONNECT: (Proves.NOT_EXECUTED, _UNWRITTEN),
        Kind.CONNECT_TIMEOUT: (Proves.NOT_EXECUTED, _UNWRITTEN),
        # A demanded client certificate fails after a TLS 1.3 handshake looked complete: that is RESET or CLOSED.
        Kind.TLS: (Proves.NOT_EXECUTED, _UNWRITTEN),
        Kind.RESET: (Proves.NOTHING, _WRITTEN),  # on a reused connection too: it may have run before the reset
        Kind.CLOSED: (Proves.NOTHING, _WRITTEN),
        Kind.SILENCE: (Proves.NOTHING, _WRITTEN),
        Kind.GARBLED: (Proves.NOTHING, _WRITTEN),
        Kind.NOT_ACCEPTED: (Proves.NOT_EXECUTED, "the router publishes that it did not accept such a request"),
        Kind.NOT_APPLIED: (
            Proves.NOT_EXECUTED,
            "408, 417, 421 and 425 may be repeated (RFC 9110 s15.5.9, s10.1.1, s15.5.20, RFC 8470 s5.2)",
        ),
        Kind.THROTTLED: (Proves.NOTHING, "429 does not say whether the request was applied (RFC 6585 s4)"),
        Kind.SERVER_ERROR: (Proves.NOTHING, "a 5xx does not say whether the request was applied; nor does Retry-After"),
        Kind.ODD_STATUS: (Proves.NOTHING, "the status has no meaning here (RFC 9110 s15)"),
        Kind.REDIRECT: (Proves.ANSWERED, "a forwarder does not follow: RFC 9110 s15.4 asks the caller"),
        Kind.CLIENT_ERROR: (Proves.ANSWERED, "the same request would be rejected again (RFC 9110 s15.5)"),
        Kind.RESULT_CUT: (Proves.EXECUTED, _RAN),
        Kind.RESULT_INVALID: (Proves.EXECUTED, _RAN),
    }
)

_NOT_APPLIED_STATUSES = frozenset({408, 417, 421, 425})


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One answer that a router publishes as "not accepted": its status, and a text that its body contains.

    Raises ValueError for a 2xx, which says the opposite, and for an empty text, which would match any answer.
    """

    status: int
    text: str

    def __post_init__(self) -> None:
        if not 300 <= self.status <= 599:
            raise ValueError(f"contract status is {self.status!r}; expected 300 to 599 (a 2xx was accepted)")
        if not self.text:
            raise ValueError("contract text is empty; expected the text that tells this answer from others")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one failed attempt left in hand. `says` is for people; `status` and `retry_after_s` (seconds) come
    from an answer, and `url` is where the attempt went.
    """

    kind: Kind
    says: str
    url: str = ""
    status: int | None = None
    retry_after_s: float | None = None

    @property
    def proves(self) -> Proves:
        """What it proves about the work."""
        return TABLE[self.kind][0]

    @property
    def why(self) -> str:
        """The authority for that."""
        return TABLE[self.kind][1]


def kind_of_status(status: int, body: bytes, contract: tuple[Marker, ...]) -> Kind | None:
    """The kind of a final answer that is no 2xx; None for a 2xx, whose body decides.

    `body` must be whole: half an answer is not the one that the contract names.
    """
    if 200 <= status <= 299:
        return None
    if any(status == marker.status and marker.text.encode() in body for marker in contract):
        return Kind.NOT_ACCEPTED
    if status in _NOT_APPLIED_STATUSES:
        return Kind.NOT_APPLIED
    if status == 429:
        return Kind.THROTTLED
    if 300 <= status <= 399:
        return Kind.REDIRECT
    if 400 <= status <= 499:
        return Kind.CLIENT_ERROR
    if 500 <= status <= 599:
        return Kind.SERVER_ERROR
    return Kind.ODD_STATUS


def excerpt(body: bytes) -> str:
    """The beginning of a body, quoted, for a message."""
    if len(body) <= EXCERPT_BYTES:
        return repr(body.decode("utf-8", "replace"))
    return f"{body[:EXCERPT_BYTES].decode('utf-8', 'replace')!r}... ({len(body)} bytes)"
