"""Server-sent events: bytes to events, whatever way the bytes are split (WHATWG HTML s9.2).

A line ends with LF or CRLF. A lone CR, which the standard lets end a line too, is left inside it.
"""

import re
from dataclasses import dataclass

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LONGEST_BLANK_LINE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event: its bytes up to and with its blank line, and its data (None: it holds none, only a comment)."""

    raw: bytes
    data: bytes | None


class OverlongEventError(ValueError):
    """An event passes the limit; the message says which."""


class SseParser:
    """Reads events from the bytes of one stream, and keeps no more than one unfinished event of `limit` bytes."""

    __slots__ = ("_buffer", "_limit", "_looked")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._looked = 0  # up to here there is no blank line

    @property
    def unfinished(self) -> bytes:
        """What has come of an event whose blank line has not."""
        return bytes(self._buffer)

    def feed(self, piece: bytes) -> list[SseEvent]:
        """The events that these further bytes complete. Raises OverlongEventError."""
        buffer = self._buffer
        buffer += piece
        events = []
        start = 0
        while (blank := _BLANK_LINE.search(buffer, max(start, self._looked))) is not None:
            events.append(self._event(bytes(buffer[start : blank.end()])))
            start = blank.end()
        del buffer[:start]
        self._check(len(buffer))
        self._looked = max(0, len(buffer) - _LONGEST_BLANK_LINE + 1)
        return events

    def _event(self, raw: bytes) -> SseEvent:
        self._check(len(raw))
        lines = [line[5:].removeprefix(b" ") for line in raw.splitlines() if line.startswith(b"data:")]
        return SseEvent(raw=raw, data=b"\n".join(lines) if lines else None)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise OverlongEventError(
                f"an event of more than {self._limit} bytes; if that is right, raise Settings(max_event_bytes=...)"
            )
