"""Both ends of a conversation in lines with a process: a FIFO each way, opened here before it is started.

Their descriptors are closed here and by nobody else: a loop's own pipes close the file that they were made of too, and
with it whatever has got its number meanwhile.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

_PIECE_BYTES = 1 << 16

OnLine = Callable[[bytes], None]
OnEnd = Callable[[], None]


class Fifos:
    """Made in a folder; `begin` once the process has opened its ends. on_line: each line, without its end; on_end:
    once, when nothing more can come. Belongs to one loop.
    """

    def __init__(self, folder: Path, on_line: OnLine, on_end: OnEnd) -> None:
        self.stdin, self.stdout = folder / "operations", folder / "outcomes"  # of the process
        self._on_line, self._on_end = on_line, on_end
        self._unread: list[bytes] = []
        self._unwritten = bytearray()
        os.mkfifo(self.stdin)
        os.mkfifo(self.stdout)
        self._from: int | None = os.open(self.stdout, os.O_RDONLY | os.O_NONBLOCK)
        # Linux opens a FIFO for both: for writing alone only when it is read.
        self._to: int | None = os.open(self.stdin, os.O_RDWR | os.O_NONBLOCK)

    def begin(self) -> None:
        """Read from now on; what is written ends for the process when this is closed."""
        assert self._from is not None
        assert self._to is not None
        writing = os.open(self.stdin, os.O_WRONLY | os.O_NONBLOCK)
        os.close(self._to)
        self._to = writing
        asyncio.get_running_loop().add_reader(self._from, self._read)

    def write(self, line: bytes) -> None:
        """Send it, now or when there is room. What nobody reads any more is dropped."""
        self._unwritten += line
        self._flush()

    def close(self) -> None:
        """The process reads the end of its stdin. Safe to call twice."""
        self._close_reading()
        self._close_writing()

    def _read(self) -> None:
        assert self._from is not None
        try:
            piece = os.read(self._from, _PIECE_BYTES)
        except BlockingIOError:
            return
        if not piece:
            self._close_reading()
            self._on_end()
            return
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._unread.append(line)
            whole, self._unread = b"".join(self._unread), []
            self._on_line(whole)
        if rest:
            self._unread.append(rest)

    def _flush(self) -> None:
        if self._to is None:
            return
        try:
            while self._unwritten:
                del self._unwritten[: os.write(self._to, self._unwritten[:_PIECE_BYTES])]
        except BlockingIOError:
            asyncio.get_running_loop().add_writer(self._to, self._flush)
            return
        except BrokenPipeError:
            self._close_writing()
            return
        asyncio.get_running_loop().remove_writer(self._to)

    def _close_reading(self) -> None:
        if self._from is not None:
            asyncio.get_running_loop().remove_reader(self._from)
            os.close(self._from)
            self._from = None

    def _close_writing(self) -> None:
        if self._to is not None:
            asyncio.get_running_loop().remove_writer(self._to)
            os.close(self._to)
            self._to = None
