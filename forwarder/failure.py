"""From an exception of aiohttp to a kind of evidence. The phase decides what may be concluded; the exception's
class only names it more closely.
"""

import aiohttp

from forwarder.evidence import Kind


def kind_of_failure(error: BaseException, *, handed_over: bool) -> Kind:
    """The kind of an attempt that failed before the head of an answer.

    handed_over: a connection had been handed to the request, so any byte of it may have been written. Only
    without that may the kind prove that nothing ran, whatever class the exception has.
    """
    return _after_hand_over(error) if handed_over else _before_hand_over(error)


def _before_hand_over(error: BaseException) -> Kind:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return Kind.DNS
        case (
            aiohttp.ClientConnectorSSLError()
            | aiohttp.ClientConnectorCertificateError()
            | aiohttp.ServerFingerprintMismatch()
        ):
            return Kind.TLS
        case aiohttp.ConnectionTimeoutError():
            return Kind.CONNECT_TIMEOUT
        case aiohttp.ClientConnectorError():
            return Kind.CONNECT
        case _:
            return Kind.UNSENT


def _after_hand_over(error: BaseException) -> Kind:
    match error:
        case TimeoutError():  # aiohttp's timer of silence is one, and ours for the writing
            return Kind.SILENCE
        case aiohttp.ServerDisconnectedError():
            return Kind.CLOSED
        case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return Kind.GARBLED
        case _:
            return Kind.RESET  # ClientOSError (ECONNRESET, EPIPE, a TLS alert) and all else that ends a connection
