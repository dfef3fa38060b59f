"""What is logged goes to stderr by a thread of its own, so that a stderr that nobody reads stops no request.

Lines wait in a queue with an end; what finds it full is dropped and counted, and the count is a line of its own as
soon as one can be written again.
"""

import logging
import os
import queue
import select
import threading
from types import TracebackType
from typing import Self

STDERR = 2
WAITING_LINES = 10_000
LAST_LINES_S = 1.0  # what a stderr that is not read may hold up the end of the process
_UNENDED = "ASGI callable returned without completing response."  # uvicorn of a stream that is cut on purpose


class Logs:
    """Writes lines to a file descriptor from a thread that may be held up. Use it as a context manager."""

    def __init__(self, descriptor: int = STDERR, *, waiting_lines: int = WAITING_LINES) -> None:
        self.dropped = 0
        self._descriptor = descriptor
        self._lines: queue.Queue[bytes | None] = queue.Queue(waiting_lines)
        self._told = 0
        # A daemon, and no file object: a thread that is held up in write(2) must not hold up the interpreter's end.
        self._thread = threading.Thread(target=self._write, name="logs", daemon=True)

    def put(self, line: str) -> None:
        """Have this line written, or dropped; never waits."""
        try:
            self._lines.put_nowait(line.encode("utf-8", "backslashreplace") + b"\n")
        except queue.Full:
            self.dropped += 1

    def handle(self, logger_name: str, format_: str, level: int) -> None:
        """Give this logger a plain handler of its own: no colours, and no other logger's lines or levels."""
        logger = logging.getLogger(logger_name)
        logger.handlers = [_Handler(self, format_)]
        logger.setLevel(level)
        logger.propagate = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._lines.put(None, timeout=LAST_LINES_S)
        except queue.Full:
            return
        self._thread.join(LAST_LINES_S)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            if not (self._written(line) and self._written(self._count())):
                return
        self._written(self._count())

    def _count(self) -> bytes:
        dropped, told = self.dropped, self._told
        self._told = dropped
        return b"" if dropped == told else b"%d lines were dropped: nobody took them from stderr\n" % (dropped - told)

    def _written(self, line: bytes) -> bool:
        while line:
            try:
                line = line[os.write(self._descriptor, line) :]
            except BlockingIOError:
                select.select((), (self._descriptor,), ())  # somebody made the shared pipe non-blocking
            except OSError:
                return False  # its reader has gone: nobody can be told
        return True


class _Handler(logging.Handler):
    """Formats where it is called, and hands the line on."""

    def __init__(self, logs: Logs, format_: str) -> None:
        super().__init__()
        self._logs = logs
        self.setFormatter(logging.Formatter(format_))

    def emit(self, record: logging.LogRecord) -> None:
        """Queue its text."""
        self._logs.put(self.format(record))


def set_up(logs: Logs, *, access_log: bool) -> None:
    """Have every logger of the process write there: warnings, and the access log."""
    logs.handle("", "%(message)s", logging.WARNING)
    logs.handle("uvicorn.error", "%(message)s", logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != _UNENDED)
    if access_log:
        logs.handle("uvicorn.access", "%(asctime)s %(message)s", logging.INFO)
