"""The faults that strike TLS alone: in the handshake, and in the way in which a connection ends."""

from faults.acts import End
from faults.answer import Answer
from faults.coverage import BESIDE_HEALTHY, ONCE
from faults.fault import RFC_RETRY, Fault
from faults.handshake import DemandCertificate, Flaw, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake, TlsVersion
from faults.vocabulary import Ending, Framing, Point, Side

_NO_DATA_YET = "RFC 8446 s2: no byte of the request is sent before the handshake is over; RFC 8470 s4: no early data"
_MUST_VERIFY = "RFC 9110 s4.3.4: a client must verify that the certificate is one of that service; " + _NO_DATA_YET
_PROOF = "SAFE evidence: it proves that nothing was applied"
_TRUNCATED = "RFC 9112 s9.8: an incomplete close, and the message is not whole by its framing"
_NOT_CLOSED = "RFC 9112 s8, s9.8: what ends with its connection is whole only where that was closed with a close_notify"
_RAN = "FINAL: the work is known to have run"

_ROWS = {Framing.LENGTH: "B1", Framing.CHUNKED: "B2", Framing.CLOSE: "B3"}
_SPOILED = {
    Spoil.RESET: ("handshake-reset", "the ClientHello is answered with RST"),
    Spoil.FIN: ("handshake-fin", "the ClientHello is answered with FIN"),
    Spoil.ALERT: ("handshake-alert", "the ClientHello is answered with the fatal alert handshake_failure"),
    Spoil.NO_PROTOCOL: ("handshake-alpn", "the ClientHello is answered with the fatal alert no_application_protocol"),
    Spoil.PLAINTEXT: ("handshake-plaintext", "the ClientHello is answered with an HTTP/1.1 400 in plain text"),
    Spoil.STALL: ("handshake-stall", "the ClientHello is never answered"),
}
_FLAWED = {
    Flaw.WRONG_NAME: "the certificate is that of another host",
    Flaw.EXPIRED: "the certificate has expired",
    Flaw.UNKNOWN_CA: "the certificate comes from a CA that nobody was told to trust",
}


def handshake_faults() -> list[Fault]:
    """What ends a handshake before the request; and the demand that ends it after it looked complete."""
    spoiled = [
        _failed(id_, says, SpoilHandshake(how=how), "T2" if how is Spoil.STALL else "T1")
        for how, (id_, says) in _SPOILED.items()
    ]
    flawed = [_failed(f"certificate-{flaw}", says, ShowCertificate(flaw=flaw), "T1") for flaw, says in _FLAWED.items()]
    return [
        *spoiled,
        *flawed,
        _failed(
            "certificate-demanded-tls12",
            "a client certificate is demanded under TLS 1.2, and the handshake fails without one",
            DemandCertificate(version=TlsVersion.TLS_1_2),
            "T1",
        ),
        Fault(
            id="certificate-demanded-tls13",
            says="a client certificate is demanded under TLS 1.3: the alert comes when the handshake looked complete",
            act=DemandCertificate(version=TlsVersion.TLS_1_3),
            row="T3",
            authority="RFC 8446 s4.4.2.4, s4.6.2: the alert certificate_required may come before or after the request",
            no_twin="whether the request had been written when the alert came is unknown to the router: it only tells",
        ),
    ]


def _failed(id_: str, says: str, act: HandshakeAct, row: str) -> Fault:
    verifies = isinstance(act, ShowCertificate)
    return Fault(
        id=id_,
        says=says,
        act=act,
        row=row,
        authority=_MUST_VERIFY if verifies else _NO_DATA_YET,
        no_twin=_PROOF,
        coverage=BESIDE_HEALTHY if row == "T2" else ONCE,  # where every upstream stalls, each sending times out
    )


def tls_ending_faults() -> list[Fault]:
    """The connection ends without a close_notify, or by a fatal alert: before the reply, and inside it."""
    return [*_waits(), *_cuts()]


def _waits() -> list[Fault]:
    endings = (
        ("truncation", Ending.TRUNCATION, "the connection ends with FIN and no close_notify"),
        ("alert", Ending.ALERT, "the connection ends with a fatal alert"),
    )
    return [
        Fault(
            id=f"{name}-{side}",
            says=f"the request was read whole; {side} EXECUTE {what}, without a reply byte",
            act=End(side=side, ending=ending),
            row="T3",
            authority=RFC_RETRY,
            twin=f"{name}-{other}",
        )
        for name, ending, what in endings
        for side, other in ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE))
    ]


def _cuts() -> list[Fault]:
    cuts = (
        (
            "length-truncation",
            Framing.LENGTH,
            Point.HALF,
            Ending.TRUNCATION,
            "half the body, short of Content-Length",
        ),
        ("chunked-truncation", Framing.CHUNKED, Point.HALF, Ending.TRUNCATION, "half of a chunked body"),
        ("close-truncation", Framing.CLOSE, Point.HALF, Ending.TRUNCATION, "half of an HTTP/1.0 body without a length"),
        ("length-alert", Framing.LENGTH, Point.HALF, Ending.ALERT, "half the body, short of Content-Length"),
    )
    return [
        Fault(
            id=f"body-{name}",
            says=f"200 with {says}, then {'a fatal alert' if ending is Ending.ALERT else 'FIN and no close_notify'}",
            act=Answer(side=Side.AFTER, framing=framing, cut=cut, ending=ending),
            row=_ROWS[framing],
            authority=_NOT_CLOSED if framing is Framing.CLOSE else _TRUNCATED,
            no_twin=_RAN,
        )
        for name, framing, cut, ending, says in cuts
    ]
