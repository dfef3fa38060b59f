"""What arrived of an answer, and what an answer that is no result leaves in hand."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from forwarder.evidence import Evidence, Kind, Marker, excerpt, kind_of_status


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer whose head was read. `cut` says why its body is not whole; None: its framing says that it is."""

    url: str
    status: int
    body: bytes
    content_type: str = ""
    content_encoding: str = ""
    retry_after: str = ""
    cut: str | None = None


def evidence_of_reply(reply: Reply, contract: tuple[Marker, ...]) -> Evidence | None:
    """The evidence in an answer that cannot be a result; None for a whole 2xx, whose content decides."""
    kind = kind_of_status(reply.status, b"" if reply.cut else reply.body, contract)
    if kind is None:
        if reply.cut is None:
            return None
        kind = Kind.RESULT_CUT
        says = f"{reply.status} from {reply.url}, but its body is not whole: {reply.cut}"
    else:
        says = f"{reply.status} from {reply.url}: {excerpt(reply.body)}"
        if reply.cut is not None:
            says += f" (not whole: {reply.cut})"
    return Evidence(
        kind=kind, says=says, url=reply.url, status=reply.status, retry_after_s=_retry_after_s(reply.retry_after)
    )


def _retry_after_s(value: str) -> float | None:
    """Seconds in a Retry-After: a number, or a date (RFC 9110 s10.2.3). None for none and for what is neither."""
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    if not value:
        return None
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
