"""The words of the catalogue; each member means one thing, and every table over them is exhaustive."""

from enum import IntEnum, StrEnum


class Phase(StrEnum):
    """Where in the exchange the hop breaks, in wire order."""

    POOL = "pool"  # the request has not left the forwarder
    IDLE = "idle"  # a connection that has carried an exchange, before the next request is written on it
    RESOLVE = "resolve"  # the name of the router does not lead to it
    CONNECT = "connect"  # before a TCP connection exists
    TLS = "tls"  # during the TLS handshake, or in the refusal of one that looked complete
    ACCEPT = "accept"  # the kernel has completed the handshake; the router has read nothing
    REQUEST = "request"  # request bytes have arrived; they are unread, or not all of them are read
    WAIT = "wait"  # the whole request was read; no byte of the final reply was sent
    HEAD = "head"  # the reply's head is cut or written wrongly, or what comes is no HTTP
    STATUS = "status"  # a whole reply with a status that is no success
    CONTENT = "content"  # a whole 200 whose content is wrong
    STREAM = "stream"  # a streamed 200 that is cut, holds wrong events, or takes its time
    BODY = "body"  # a 200 whose body is cut, or delimited in an unusual way
    AFTER = "after"  # a whole reply, and what comes behind it: an ending, or more bytes
    TIME = "time"  # a whole reply that comes late, or bit by bit
    CONTAINER = "container"  # in a container between forwarder and workers, at any point: the workers are healthy
    TOXIC = "toxic"  # on the way through Toxiproxy, at any point: the router is healthy
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


class Extent(StrEnum):
    """How much of a request is read before the rest of it is left."""

    FIRST_BYTE = "its first byte"
    REQUEST_LINE = "its request line"
    HEAD = "its head"
    EXPECTATION = "its head, whose Expect: 100-continue is left unanswered"  # RFC 9110 s10.1.1
    HALF_BODY = "its head and half of its body"


class Framing(StrEnum):
    """How the reply's body is delimited (RFC 9112 s6)."""

    LENGTH = "content-length"
    CHUNKED = "chunked"
    TRAILERS = "chunked, with trailers"
    CLOSE = "close"  # an HTTP/1.0 reply without a length: the body ends with the connection


class Point(StrEnum):
    """A place between two bytes of a reply, in wire order."""

    STATUS_LINE = "status-line"  # inside the status line: the version is there, the status is not
    HEADERS = "headers"  # inside the header section
    HEAD = "head"  # after the head, before any content
    IN_EVENT = "in-event"  # of a stream: some events were sent whole, and a part of the next one
    EVENT = "event"  # of a stream: some events were sent, and nothing of the next one
    DONE = "done"  # of a stream: all events were sent, [DONE] was not
    HALF = "half"  # half of the content was sent
    LAST_CHUNK = "last-chunk"  # all of the content was sent, the last chunk was not (RFC 9112 s8)
    IN_LAST_CHUNK = "in-last-chunk"  # after the line of the last chunk, before the empty line that ends the message


class Flaw(StrEnum):
    """One way in which the bytes of a reply break the rules, or use a rule that hardly anybody uses."""

    LENGTH_LONG = "length-long"  # Content-Length says more than there is: the message never becomes whole
    LENGTH_SHORT = "length-short"  # Content-Length says half of what there is: the rest looks like the next reply
    LENGTH_TWICE = "length-twice"  # the same Content-Length on two lines (RFC 9112 s6.3: error, or taken once)
    LENGTHS_DIFFER = "lengths-differ"  # two that differ (RFC 9112 s6.3: an unrecoverable error)
    BOTH_FRAMINGS = "both-framings"  # Content-Length beside Transfer-Encoding, which wins (RFC 9112 s6.3)
    CHUNK_SIZE = "chunk-size"  # the second chunk's size is no number
    BAD_TRAILER = "bad-trailer"  # a trailer without a colon
    OBS_FOLD = "obs-fold"  # a header folded over two lines (RFC 9112 s5.2)
    BARE_LF = "bare-lf"  # lines of the head end with LF alone (RFC 9112 s2.2: may be recognised)
    LONG_HEADER = "long-header"  # a header longer than any usual limit
    NUL_IN_HEADER = "nul-in-header"  # a NUL in a header's value (RFC 9110 s5.5: refused or replaced)
    BAD_HEADER_NAME = "bad-header-name"  # a header name with a space in it (RFC 9112 s5.1)


class Coding(StrEnum):
    """What the head says of the content's coding, though the request asked for none (RFC 9110 s8.4)."""

    GZIP = "gzip"
    GZIP_LIE = "gzip-lie"  # it says gzip, and the content is plain


class Surplus(StrEnum):
    """What comes behind a whole reply though nobody asked for it (RFC 9112 s9.2: no response to anything)."""

    REPLY = "reply"  # a whole second reply, with the result of an operation that nobody has
    STRAY = "stray"  # a few bytes


class Persistence(StrEnum):
    """What the reply's head says of the connection (RFC 9112 s9.3, s9.6)."""

    UNSAID = "unsaid"
    CLOSE = "close"
    KEEP_ALIVE = "keep-alive"


class Noise(StrEnum):
    """Bytes that are no HTTP."""

    TLS_ALERT = "tls-alert"  # a TLS record: an alert (RFC 8446 s6)
    GARBAGE = "garbage"  # a line of text


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
    NULL_CHOICES = "null-choices"  # the right shape with null in the place of its choices
    ERROR_OBJECT = "error-object"  # an error in the words of the API, though the status is a success
    WRONG_TYPE = "wrong-type"  # the completion, called text/html
    FEWER_CHOICES = "fewer-choices"  # one choice less than was asked for
    MORE_CHOICES = "more-choices"  # one choice more than was asked for
    SAME_INDEX = "same-index"  # one choice more, and all of them with the index 0
    WRONG_INDEX = "wrong-index"  # as many choices as were asked for, with indices of others
    FEWER_LOGPROBS = "fewer-logprobs"  # a logprob less than there are tokens
    NAN_LOGPROBS = "nan-logprobs"  # NaN among the logprobs, as Python's json writes it
    INFINITE_LOGPROBS = "infinite-logprobs"  # -Infinity among the logprobs
    NULL_LOGPROBS = "null-logprobs"  # null in the place of the logprobs
    NULL_TOKENS = "null-tokens"  # null in the place of the token ids
    FOREIGN = "foreign"  # a whole completion, of an operation that nobody has
    BAD_UTF8 = "bad-utf8"  # bytes that are no UTF-8 in the text
    NUL_TAIL = "nul-tail"  # the right length, and NULs in the place of the second half
    HALF_JSON = "half-json"  # half of the completion, and a length that says that this is all
    ABORTED = "aborted"  # finish_reason "abort": the engine stopped in the middle
    NO_REASON = "no-reason"  # finish_reason null: the engine had not finished
    NO_TOKENS = "no-tokens"  # a completion without a token and without a text
    PINGS = "pings"  # of a stream: comments between its events (WHATWG HTML s9.2.7)
    NO_DONE = "no-done"  # of a stream: all events and a clean end, without [DONE]
    NO_EVENTS = "no-events"  # of a stream: a clean end, and no event
    ERROR_EVENT = "error-event"  # of a stream: some events, then an error
    ERROR_EVENT_DONE = "error-event-done"  # the same, and [DONE] as if nothing had happened
    UNSTREAMED = "unstreamed"  # the whole answer as JSON, though a stream was asked for
    HUGE = "huge"  # the completion, and 100 MB of white space behind it


class Soundness(StrEnum):
    """What may be made of content that came with a whole 200."""

    SOUND = "sound"  # it is what was asked for
    UNPROVABLE = "unprovable"  # nobody can tell that it is wrong: what a forwarder makes of it only tells
    WRONG = "wrong"  # it cannot be what was asked for: no success


class Leaving(StrEnum):
    """How a caller leaves while its operation is in flight."""

    FIN = "fin"  # it closes its connection
    RESET = "reset"  # it resets its connection
    HALF_CLOSE = "half-close"  # it ends its own side, and still reads (RFC 9112 s9.6 lets a server answer)


class Sight(StrEnum):
    """What a forwarder sees at its socket when a fault has struck."""

    POOL_WAIT = "wait for a connection of its own pool"
    IDLE_END = "end of an idle connection, before anything was written on it"
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
    GARBLED = "bytes that are no HTTP reply"
    HEAD_CUT = "reply cut inside its head"
    FLAWED = "2xx reply that is written wrongly"
    STATUS = "whole reply with a status"
    CUT = "reply cut after its head"
    STALL = "reply that stalls after its head"
    WHOLE = "whole 2xx reply"


class Replied(IntEnum):
    """How much of an answer was handed to the kernel."""

    NOTHING = 0
    PART = 1
    WHOLE = 2


STREAM_POINTS = frozenset({Point.IN_EVENT, Point.EVENT, Point.DONE})
STREAM_CONTENTS = frozenset(
    {
        Content.PINGS,
        Content.NO_DONE,
        Content.NO_EVENTS,
        Content.ERROR_EVENT,
        Content.ERROR_EVENT_DONE,
        Content.UNSTREAMED,
    }
)
