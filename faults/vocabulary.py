"""The words of the catalogue; each member means one thing, and every table over them is exhaustive."""

from enum import IntEnum, StrEnum


class Phase(StrEnum):
    """Where in the exchange the hop breaks, in wire order."""

    POOL = "pool"  # the request has not left the forwarder
    RESOLVE = "resolve"  # the name of the router does not lead to it
    CONNECT = "connect"  # before a TCP connection exists
    TLS = "tls"  # during the TLS handshake, or in the refusal of one that looked complete
    ACCEPT = "accept"  # the kernel has completed the handshake; the router has read nothing
    REQUEST = "request"  # request bytes have arrived, unread
    WAIT = "wait"  # the whole request was read; no byte of the reply was sent
    STATUS = "status"  # a whole reply with a status that is no success
    CONTENT = "content"  # a whole 200 whose content is wrong
    BODY = "body"  # a 200 that is cut
    TIME = "time"  # a whole reply that comes late
    NONE = "none"  # nothing is wrong


class Side(StrEnum):
    """The side of EXECUTE on which a fault strikes: the asymmetry that callers cannot see."""

    BEFORE = "before"
    AFTER = "after"


class Class(StrEnum):
    """What the evidence of a failure lets a forwarder conclude (RFC 9110 s9.2.2)."""

    SAFE = "SAFE"  # proves that the request was never applied
    AMBIGUOUS = "AMBIGUOUS"  # the work may or may not have run
    FINAL = "FINAL"  # an answer, or work known to have run


class Ending(StrEnum):
    """How the router ends a connection: FIN (the peer reads EOF), RST (the peer reads ECONNRESET), or, under TLS alone,
    in two further ways.
    """

    FIN = "fin"  # over TLS after a close_notify (RFC 8446 s6.1)
    RESET = "reset"
    TRUNCATION = "truncation"  # FIN without a close_notify (RFC 9112 s9.8)
    ALERT = "alert"  # a fatal alert, then FIN (RFC 8446 s6.2)


class Framing(StrEnum):
    """How the reply's body is delimited (RFC 9112 s6)."""

    LENGTH = "content-length"
    CHUNKED = "chunked"


class Cut(StrEnum):
    """Where a reply's body stops short."""

    HALF = "half"  # half of the content was sent
    LAST_CHUNK = "last-chunk"  # all of the content was sent, the last chunk was not (RFC 9112 s8)


class Content(StrEnum):
    """What a reply's body holds."""

    RESULT = "result"  # the completion of the operation's execution
    ERROR = "error"  # a JSON error that names no operation: the same bytes on both sides of EXECUTE
    NO_WORKERS = "no-workers"  # the body that the reference contract publishes as "not accepted"
    HTML = "html"  # an HTML page, as a misrouted hop or a captive gateway sends it
    EMPTY = "empty"  # no byte at all
    WRONG_SHAPE = "wrong-shape"  # JSON of another shape
    NULL = "null"  # the JSON value null
    OBJECT = "object"  # an empty JSON object
    NO_CHOICES = "no-choices"  # the right shape with no choice in it
    ERROR_OBJECT = "error-object"  # an error in the words of the API, though the status is a success


class Leaving(StrEnum):
    """How a caller leaves while its operation is in flight."""

    FIN = "fin"  # it closes its connection
    RESET = "reset"  # it resets its connection
    HALF_CLOSE = "half-close"  # it ends its own side, and still reads (RFC 9112 s9.6 lets a server answer)


class Sight(StrEnum):
    """What a forwarder sees at its socket when a fault has struck."""

    POOL_WAIT = "wait for a connection of its own pool"
    UNRESOLVED = "name not resolved"
    REFUSED = "connection refused"
    UNREACHABLE = "host unreachable"
    CONNECT_TIMEOUT = "connect timeout"
    TLS_FAILED = "TLS handshake failed"
    TLS_STALLED = "TLS handshake not complete in time"
    TLS_REFUSED = "TLS handshake refused after it looked complete"
    RESET = "reset before any reply byte"
    FIN = "FIN before any reply byte"
    TRUNCATION = "FIN without a close_notify before any reply byte"
    ALERT = "fatal TLS alert before any reply byte"
    SILENCE = "silence until the read timeout"
    STATUS = "whole reply with a status"
    CUT = "reply cut after its head"
    WHOLE = "whole 2xx reply"


class Replied(IntEnum):
    """How much of an answer was handed to the kernel."""

    NOTHING = 0
    PART = 1
    WHOLE = 2
