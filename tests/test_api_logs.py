"""Lines on their way to stderr."""

import logging
import os

from forwarder.api.logs import Logs


def test_lines_that_nobody_takes_are_dropped_and_their_number_is_a_line() -> None:
    """Once somebody reads again."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    filler = 0
    try:
        while True:
            filler += os.write(writable, b"x" * 4096)
    except BlockingIOError:
        pass  # non-blocking, as a shared pipe may be: that loses no line
    with Logs(writable, waiting_lines=3) as logs, os.fdopen(readable, "rb") as pipe:
        logs.handle("tests.api_logs", "%(message)s", logging.INFO)
        logger = logging.getLogger("tests.api_logs")
        for number in range(10):
            logger.info("line %d", number)
        dropped = logs.dropped
        assert dropped in (6, 7)  # three wait, and the thread may hold one
        pipe.read(filler)
        written = [pipe.readline() for _ in range(10 - dropped + 1)]
    os.close(writable)
    assert b"%d lines were dropped: nobody took them from stderr\n" % dropped in written
    lines = [line for line in written if line.startswith(b"line")]
    assert lines == sorted(set(lines))
    assert len(lines) == 10 - dropped


def test_the_end_waits_for_lines_that_are_taken() -> None:
    """Whatever was logged before it is written."""
    readable, writable = os.pipe()
    with Logs(writable) as logs:
        for number in range(100):
            logs.put(str(number))
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        assert pipe.read().split() == [b"%d" % number for number in range(100)]
