"""The head of a reply as bytes, and how a body is chunked. No socket is known here, and no fault."""

from functools import lru_cache

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_REASONS = {
    100: "Continue",
    102: "Processing",
    103: "Early Hints",
    200: "OK",
    204: "No Content",
    205: "Reset Content",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    413: "Content Too Large",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    425: "Too Early",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body (RFC 9112 s7.1); no data would be the last chunk, so it gives nothing."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def head(
    status: int, content_type: str, length: int | None, *, close: bool = False, extra: tuple[tuple[str, str], ...] = ()
) -> bytes:
    """The head of a reply: framed by `length` bytes, or chunked where it is None.

    It has no Date: the same facts give the same bytes, and a judge can compute them again.
    """
    if length is not None:
        before, after = around_length(status, content_type, extra, close=close)
        return before + b"%d" % length + after
    before, after = _around_framing(status, content_type, extra, close)
    return before + b"Transfer-Encoding: chunked" + after


def around_length(
    status: int, content_type: str, extra: tuple[tuple[str, str], ...] = (), *, close: bool
) -> tuple[bytes, bytes]:
    """A head up to the length of its body, and behind that: nearly every reply under load has the same."""
    before, after = _around_framing(status, content_type, extra, close)
    return before + b"Content-Length: ", after


CHUNKED = ("Transfer-Encoding", "chunked")
CLOSE = ("Connection", "close")


@lru_cache(maxsize=64)
def _around_framing(
    status: int, content_type: str, extra: tuple[tuple[str, str], ...], close: bool
) -> tuple[bytes, bytes]:
    """A head up to what frames its body, and behind that."""
    before = f"HTTP/1.1 {status} {_REASONS.get(status, '')}\r\nContent-Type: {content_type}\r\n"
    fields = (*extra, CLOSE) if close else extra
    after = "".join(f"\r\n{name}: {value}" for name, value in fields) + "\r\n\r\n"
    return before.encode("latin-1"), after.encode("latin-1")


def head_of(status: int, fields: tuple[tuple[str, str], ...], *, version: str = "1.1", line_end: str = "\r\n") -> bytes:
    """A head with exactly these fields, in their order; nothing is checked, so that anything can be sent."""
    lines = [f"HTTP/{version} {status} {_REASONS.get(status, '')}"]
    lines += [f"{name}: {value}" for name, value in fields]
    return (line_end.join(lines) + line_end * 2).encode("latin-1")
