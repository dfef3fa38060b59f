"""What the router does to a TLS handshake when a fault strikes it: acts of a listener. All but one fail it before any
byte of the request can have been sent; no early data (RFC 8470) is ever offered.
"""

from dataclasses import dataclass
from enum import StrEnum


class Spoil(StrEnum):
    """How a handshake ends when its ClientHello has been read."""

    RESET = "reset"  # RST
    FIN = "fin"  # FIN, without a byte
    ALERT = "alert"  # the fatal alert handshake_failure (RFC 8446 s6.2), then FIN
    NO_PROTOCOL = "no-protocol"  # the fatal alert no_application_protocol (RFC 7301 s3.2), then FIN
    PLAINTEXT = "plaintext"  # an HTTP/1.1 400 in plain text, then FIN
    STALL = "stall"  # nothing is ever sent


class Flaw(StrEnum):
    """Why a certificate must not be accepted (RFC 9110 s4.3.4)."""

    WRONG_NAME = "wrong-name"
    EXPIRED = "expired"
    UNKNOWN_CA = "unknown-ca"


class TlsVersion(StrEnum):
    """The only version that is spoken."""

    TLS_1_2 = "1.2"
    TLS_1_3 = "1.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoilHandshake:
    """The ClientHello is read, and the handshake ends there."""

    how: Spoil


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCertificate:
    """The handshake is made with a certificate that has that flaw. It strikes when the peer sends no request; a request
    that comes all the same is served like any other: its sender does not verify.
    """

    flaw: Flaw


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandCertificate:
    """The handshake demands a client certificate, and ends with a fatal alert without one.

    Under TLS 1.2 it fails in the handshake. Under TLS 1.3 the peer's side of the handshake is complete before the
    alert can reach it, and its request may be on the way (RFC 8446 s4.4.2.4, and s2 for the order of flights).
    """

    version: TlsVersion


HandshakeAct = SpoilHandshake | ShowCertificate | DemandCertificate
