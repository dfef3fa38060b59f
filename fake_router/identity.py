"""Who the router is under TLS: its certificates, good and flawed, all made in this process, under a CA of ours.

Making keys costs time, so nothing is made before it is asked for, and then once for the whole process.
"""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from fake_router.name_server import ZONE
from faults.handshake import Flaw, TlsVersion

if TYPE_CHECKING:
    from trustme import CA, LeafCert

NAMES = ("localhost", "127.0.0.1", "::1", f"*.{ZONE}")  # what subjects may call us, whatever they dial
_OTHER_NAME = "other.invalid"
_VERSIONS = {TlsVersion.TLS_1_2: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS_1_3: ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """How the router meets a ClientHello: the flaw of its certificate (None: a good one), and the only version that it
    speaks while it demands a client certificate (None: any from 1.2 on, and no demand).
    """

    flaw: Flaw | None = None
    demands: TlsVersion | None = None


WELL = Greeting()


class Identity:
    """One CA, and the contexts with which a router of its serves, under NAMES and others. Safe to use from several
    threads.

    ca: the one that vouches for it; None: one of its own. certificate: the file, in PEM, of a certificate that another
    CA has signed, and of its key; flawed ones under that CA cannot be made then.
    """

    def __init__(self, names: Sequence[str] = (), *, ca: "CA | None" = None, certificate: Path | None = None) -> None:
        self._names = tuple(dict.fromkeys((*NAMES, *names)))
        self._given_ca = ca
        self._certificate_file = certificate
        self._lock = RLock()
        self._contexts: dict[Greeting, ssl.SSLContext] = {}

    def answers_to(self, name: str) -> None:
        """Subjects may call it that too. Raises ValueError once a certificate has been made."""
        with self._lock:
            if self._contexts:
                raise ValueError(f"{name!r} after certificates were made; expected it before")
            self._names = tuple(dict.fromkeys((*self._names, name)))

    @property
    def ca_pem(self) -> bytes:
        """The certificate of the CA, for those who are to trust it."""
        with self._lock:
            return self._ca.cert_pem.bytes()

    def can_show(self, flaw: Flaw) -> bool:
        """It can have a certificate with that flaw, and no other."""
        return self._certificate_file is None or flaw is Flaw.UNKNOWN_CA

    def context(self, greeting: Greeting = WELL) -> ssl.SSLContext:
        """The context for handshakes of that kind. Raises ValueError for a name that no certificate can hold, and
        OSError for a file that holds none.
        """
        with self._lock:
            if greeting not in self._contexts:
                self._contexts[greeting] = self._made(greeting)
            return self._contexts[greeting]

    @cached_property
    def _ca(self) -> "CA":
        from trustme import CA  # it imports cryptography, which takes a while

        return CA() if self._given_ca is None else self._given_ca

    @cached_property
    def _good(self) -> "LeafCert":
        return self._ca.issue_cert(*self._names)

    def _certificate(self, flaw: Flaw | None) -> "LeafCert":
        from trustme import CA

        match flaw:
            case None:
                return self._good
            case Flaw.WRONG_NAME:
                return self._ca.issue_cert(_OTHER_NAME)
            case Flaw.EXPIRED:
                now = datetime.now(UTC)
                return self._ca.issue_cert(
                    *self._names, not_before=now - timedelta(days=2), not_after=now - timedelta(days=1)
                )
            case Flaw.UNKNOWN_CA:
                return CA().issue_cert(*self._names)

    def _made(self, greeting: Greeting) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if greeting.flaw is None and self._certificate_file is not None:
            context.load_cert_chain(self._certificate_file, password="")  # nobody is asked for one on a terminal
        else:
            self._certificate(greeting.flaw).configure_cert(context)
        # Every connection makes a whole handshake: nothing depends on the ones before it, and no early data can come.
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
        if greeting.demands is not None:
            self._ca.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
            context.minimum_version = context.maximum_version = _VERSIONS[greeting.demands]
        return context


IDENTITY = Identity()
