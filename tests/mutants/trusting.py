"""Forwarders that are wrong about TLS."""

import ssl
from functools import cache

from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Got, Seen


class TakesTlsErrorsForFailedHandshakes(Forwarder):
    """An error of the TLS library comes before the request, it thinks: one class of exceptions covers both."""

    def may_send_again(self, got: Got) -> bool:
        """Whenever TLS failed."""
        return got.seen is Seen.BROKEN or super().may_send_again(got)


class VerifiesNobody(Forwarder):
    """Encrypts, and does not ask for whom."""

    def context(self) -> ssl.SSLContext:
        """Whoever answers is believed."""
        return _believing()


@cache
def _believing() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
