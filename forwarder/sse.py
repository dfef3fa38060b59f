"""Server-sent events: bytes to events, whatever way the bytes are split (WHATWG HTML s9.2).

A line ends with CRLF, LF or CR, and with nothing else. An event whose blank line ends with a CR is given out when the
next byte, or the end of the stream, shows whether an LF belongs to it: its bytes are passed on as they came.
"""

import re
from dataclasses import dataclass

_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r){2}")  # atomic: a CRLF is never taken for two line ends
_LONGEST_BLANK_LINE = 4
_CR = b"\r"
_BOM = b"\xef\xbb\xbf"  # one at the beginning of a stream is no part of it


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event: its bytes up to and with its blank line, and its data (None: it holds none, only a comment)."""

    raw: bytes
    data: bytes | None


class OverlongEventError(ValueError):
    """An event passes the limit; the message says which."""


class SseParser:
    """Reads events from the bytes of one stream, and keeps no more than one unfinished event of `limit` bytes."""

    __slots__ = ("_begun", "_buffer", "_limit", "_looked")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun = False
        self._buffer = bytearray()
        self._looked = 0  # up to here there is no blank line

    @property
    def unfinished(self) -> bytes:
        """What has come of an event whose blank line has not."""
        return bytes(self._buffer)

    def feed(self, piece: bytes) -> list[SseEvent]:
        """The events that these further bytes complete. Raises OverlongEventError."""
        self._buffer += piece
        return self._completed(ended=False)

    def end(self) -> list[SseEvent]:
        """The event that the end of the stream completes, if there is one. Raises OverlongEventError."""
        return self._completed(ended=True)

    def _completed(self, *, ended: bool) -> list[SseEvent]:
        buffer = self._buffer
        events = []
        start = 0
        while (blank := _BLANK_LINE.search(buffer, max(start, self._looked))) is not None:
            if blank.end() == len(buffer) and buffer.endswith(_CR) and not ended:
                break
            events.append(self._event(bytes(buffer[start : blank.end()])))
            start = blank.end()
        del buffer[:start]
        self._check(len(buffer))
        self._looked = max(0, len(buffer) - _LONGEST_BLANK_LINE + 1)
        return events

    def _event(self, raw: bytes) -> SseEvent:
        self._check(len(raw))
        text = raw if self._begun else raw.removeprefix(_BOM)
        self._begun = True
        fields = [line.partition(b":") for line in text.splitlines()]  # of bytes: at CRLF, LF and CR alone
        lines = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
        return SseEvent(raw=raw, data=b"\n".join(lines) if lines else None)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise OverlongEventError(
                f"an event of more than {self._limit} bytes; if that is right, raise Settings(max_event_bytes=...)"
            )
